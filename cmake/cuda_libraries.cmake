# Libraries for unmodified CUDA programs beside the drop-in runtime, through which they reach the device: shared libraries
# under the names that programs of CUDA 11, 12 and 13 ask for (exports.S of their rooms). Their kernels are PTX.
raddle_room(cuda_library)
target_link_libraries(raddle_cuda_library PUBLIC cudart_runtime)

# raddle_cuda_library(name version other names...): room `name` as lib<name>.so.<version>, and links to it. CUDA_LIBRARIES
# gets the target, CUDA_LIBRARY_NAMES the links.
function(raddle_cuda_library name version)
  set(room ${CMAKE_SOURCE_DIR}/src/raddle/${name})
  file(GLOB files CONFIGURE_DEPENDS ${room}/kernels/*.ptx)
  set(bytes "")
  set(table "")
  foreach(file ${files})
    get_filename_component(kernels ${file} NAME_WE)
    raddle_embed(bytes ptx_${kernels} ${file})
    string(APPEND table "  if (std::string_view(name) == \"${kernels}\") return ptx_${kernels};\n")
  endforeach()
  raddle_stamp(stamp ${files})
  file(CONFIGURE OUTPUT ${generated}/${name}_images.cpp CONTENT
"${stamp}
#include \"raddle/${name}/images.h\"

#include <string_view>
${bytes}
namespace raddle::${name} {
const char* image(const char* name) {
${table}  return nullptr;
}
}  // namespace raddle::${name}
")
  set_source_files_properties(${generated}/${name}_images.cpp PROPERTIES OBJECT_DEPENDS "${files}")

  raddle_room(${name} cuda_library)
  add_library(${name}_library SHARED ${room}/exports.S ${generated}/${name}_images.cpp)
  set_target_properties(${name}_library PROPERTIES OUTPUT_NAME ${name} SUFFIX .so.${version} LINK_DEPENDS ${room}/exports.map
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  file(GLOB lists CONFIGURE_DEPENDS ${room}/*.inc)
  set_source_files_properties(${room}/exports.S PROPERTIES OBJECT_DEPENDS
    "${lists};${CMAKE_SOURCE_DIR}/src/raddle/cuda_library/exports.inc")
  target_link_libraries(${name}_library PRIVATE raddle_${name})
  target_link_options(${name}_library PRIVATE -Wl,--version-script=${room}/exports.map -Wl,-z,defs)
  foreach(other ${ARGN})
    add_custom_command(TARGET ${name}_library POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E create_symlink lib${name}.so.${version} ${CMAKE_BINARY_DIR}/${other})
  endforeach()
  set(CUDA_LIBRARIES ${CUDA_LIBRARIES} ${name}_library PARENT_SCOPE)
  set(CUDA_LIBRARY_NAMES ${CUDA_LIBRARY_NAMES} ${ARGN} PARENT_SCOPE)
endfunction()

raddle_cuda_library(cublas 13 libcublas.so.11 libcublas.so.12 libcublasLt.so.11 libcublasLt.so.12 libcublasLt.so.13)
raddle_cuda_library(cufft 12 libcufft.so.10 libcufft.so.11)
raddle_cuda_library(curand 10)
raddle_cuda_library(cusparse 12 libcusparse.so.11)

# cuBLAS and cuBLASLt for unmodified programs, beside the drop-in runtime, through which they reach the device: one shared
# library under the names that programs of CUDA 11, 12 and 13 ask for (src/raddle/cublas/exports.S). Its kernels are PTX.
set(room ${CMAKE_SOURCE_DIR}/src/raddle/cublas)
file(GLOB files CONFIGURE_DEPENDS ${room}/kernels/*.ptx)
set(bytes "")
set(table "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(APPEND bytes "asm(\".section .rodata\\nptx_${name}:\\n.incbin \\\"${file}\\\"\\n.byte 0\\n.previous\\n\");
extern \"C\" const char ptx_${name}[];\n")
  string(APPEND table "  if (std::string_view(name) == \"${name}\") return ptx_${name};\n")
endforeach()
raddle_stamp(stamp ${files})
file(CONFIGURE OUTPUT ${generated}/cublas_images.cpp CONTENT
"${stamp}
#include \"raddle/cublas/images.h\"

#include <string_view>
${bytes}
namespace raddle::cublas {
const char* image(const char* name) {
${table}  return nullptr;
}
}  // namespace raddle::cublas
")
set_source_files_properties(${generated}/cublas_images.cpp PROPERTIES OBJECT_DEPENDS "${files}")

raddle_room(cublas)
add_library(cublas_library SHARED ${room}/exports.S ${generated}/cublas_images.cpp)
set_target_properties(cublas_library PROPERTIES OUTPUT_NAME cublas SUFFIX .so.13 LINK_DEPENDS ${room}/libcublas.map
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set_source_files_properties(${room}/exports.S PROPERTIES OBJECT_DEPENDS "${room}/cublas.inc;${room}/cublas_lt.inc")
target_link_libraries(cublas_library PRIVATE raddle_cublas cudart_runtime)
target_link_options(cublas_library PRIVATE -Wl,--version-script=${room}/libcublas.map -Wl,-z,defs)
set(RADDLE_CUBLAS_NAMES libcublas.so.11 libcublas.so.12 libcublasLt.so.11 libcublasLt.so.12 libcublasLt.so.13)
foreach(name ${RADDLE_CUBLAS_NAMES})
  add_custom_command(TARGET cublas_library POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -E create_symlink libcublas.so.13 ${CMAKE_BINARY_DIR}/${name})
endforeach()

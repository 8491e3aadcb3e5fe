# The drop-in CUDA runtime and driver interface beside the program: one shared library under the three names of the
# runtime that programs of CUDA 11, 12 and 13 ask for, and under the driver's. The runtime's symbols carry NVIDIA's
# versions (src/raddle/cudart/api.S).
add_library(cudart_runtime SHARED ${CMAKE_SOURCE_DIR}/src/raddle/cudart/api.S)
set(script ${CMAKE_SOURCE_DIR}/src/raddle/cudart/libcudart.map)
set_target_properties(cudart_runtime PROPERTIES OUTPUT_NAME cudart SUFFIX .so.13 LINK_DEPENDS ${script}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(tables api.inc driver.inc driver_lack.inc)
list(TRANSFORM tables PREPEND ${CMAKE_SOURCE_DIR}/src/raddle/cudart/)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/raddle/cudart/api.S PROPERTIES
  OBJECT_DEPENDS "${tables}")
target_link_libraries(cudart_runtime PRIVATE raddle_cudart)
target_link_options(cudart_runtime PRIVATE -Wl,--version-script=${script} -Wl,-z,defs)
raddle_fast_program(cudart_runtime)
foreach(name libcudart.so.11.0 libcudart.so.12 libcuda.so.1)
  add_custom_command(TARGET cudart_runtime POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -E create_symlink libcudart.so.13 ${CMAKE_BINARY_DIR}/${name})
endforeach()

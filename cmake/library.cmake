# The library for programs of others (src/raddle/api/simulator.h): one archive, the headers and a pkg-config file.
#   ninja raddle_library && cmake --install BUILD --component library --prefix DIR
# Nothing else needs it, so no other target makes it.
set(library ${CMAKE_BINARY_DIR}/libraddle.a)
set(script "create ${library}\n")
set(archives "")
foreach(room base stats trace accelsim policy ptx exec runtime timing lowering energy analysis config sim report lab workloads api)
  string(APPEND script "addlib $<TARGET_FILE:raddle_${room}>\n")
  list(APPEND archives raddle_${room})
endforeach()
file(GENERATE OUTPUT ${generated}/library.mri CONTENT "${script}save\nend\n")
add_custom_command(OUTPUT ${library} DEPENDS ${archives} ${generated}/library.mri
  COMMAND ${CMAKE_COMMAND} -E rm -f ${library} COMMAND sh -c "${CMAKE_AR} -M <${generated}/library.mri" VERBATIM)
add_custom_target(raddle_library DEPENDS ${library})

# -fno-lto: the archive's objects can be linked with and without link-time optimisation; gcc would choose it unasked.
set(no_lto "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(no_lto " -fno-lto")
endif()
file(CONFIGURE OUTPUT ${generated}/raddle-library.pc CONTENT "prefix=\${pcfiledir}/../..
Name: raddle-library
Description: Raddle, a cycle-level GPU simulator, as a C++ library
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -lraddle${no_lto} -lfmt -lxxhash -lzstd -llzma -lsqlite3 -lpthread -ldl
" @ONLY)
install(FILES ${library} DESTINATION lib COMPONENT library EXCLUDE_FROM_ALL)
install(FILES ${generated}/raddle-library.pc DESTINATION lib/pkgconfig COMPONENT library EXCLUDE_FROM_ALL)
install(DIRECTORY src/raddle/ DESTINATION include/raddle COMPONENT library EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc"
  PATTERN "cli" EXCLUDE PATTERN "cudart" EXCLUDE PATTERN "cublas" EXCLUDE PATTERN "cuda_library" EXCLUDE PATTERN "cufft" EXCLUDE PATTERN "curand" EXCLUDE PATTERN "cusparse" EXCLUDE)
install(FILES ${generated}/raddle/policy/level_headers.h ${RADDLE_INTERFACE_HASH} DESTINATION include/raddle/policy
  COMPONENT library EXCLUDE_FROM_ALL)

# What `cmake --install` puts where. The program finds what belongs to it from its own place (../lib/raddle), so that the
# whole may lie under any prefix, and be moved.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # of the tests nothing is installed
set(lib ${CMAKE_BINARY_DIR}/installed)     # written here first

# The manual page and completions are the program's own words: it writes them itself whenever it is linked.
set(manual ${lib}/raddle.1 ${lib}/raddle.bash ${lib}/_raddle ${lib}/raddle.fish)
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  add_custom_command(TARGET raddle POST_BUILD BYPRODUCTS ${manual} VERBATIM
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:raddle>" -DOUT=${lib}
    -P ${CMAKE_SOURCE_DIR}/cmake/manual.cmake)
  install(FILES ${lib}/raddle.1 DESTINATION share/man/man1)
  install(FILES ${lib}/raddle.bash DESTINATION share/bash-completion/completions RENAME raddle)
  install(FILES ${lib}/_raddle DESTINATION share/zsh/vendor-completions)
  install(FILES ${lib}/raddle.fish DESTINATION share/fish/vendor_completions.d)
endif()
# `raddle plugin` of a build tree.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/plugin.sh CONTENT "#!/bin/sh\nexec '${CMAKE_SOURCE_DIR}/scripts/plugin.sh' \"$@\"\n")
file(CHMOD ${CMAKE_BINARY_DIR}/plugin.sh PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)

install(TARGETS raddle DESTINATION bin)
if(TARGET cudart_runtime)
  install(TARGETS cudart_runtime ${CUDA_LIBRARIES} LIBRARY DESTINATION lib/raddle)
  foreach(name libcudart.so.12 libcudart.so.11.0 libcuda.so.1 ${CUDA_LIBRARY_NAMES})
    install(FILES ${CMAKE_BINARY_DIR}/${name} DESTINATION lib/raddle)
  endforeach()
endif()

# Plug-ins of policies: headers, what policies call, the script that compiles them, packages for other builds.
install(PROGRAMS scripts/plugin.sh DESTINATION lib/raddle)
install(DIRECTORY src/raddle/policy src/raddle/base DESTINATION include/raddle FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${generated}/raddle/policy/interface_hash.h ${generated}/raddle/policy/level_headers.h
  DESTINATION include/raddle/policy)
install(FILES $<TARGET_FILE:raddle_policy> $<TARGET_FILE:raddle_base> DESTINATION lib/raddle)
# Without what only link-time optimisation reads: a tenth of the size.
install(CODE "foreach(name policy base)
  execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --wildcard \"--remove-section=.gnu.lto_*\" --strip-unneeded
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/raddle/libraddle_\${name}.a\")
endforeach()")
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${lib}/raddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/raddleConfig.cmake ${lib}/raddleConfigVersion.cmake DESTINATION lib/cmake/raddle)
file(CONFIGURE OUTPUT ${lib}/raddle.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/../..
program=${prefix}/bin/raddle
machines=${prefix}/share/raddle/gpus
experiments=${prefix}/share/raddle/experiments

Name: raddle
Description: headers and libraries for policies of Raddle, a cycle-level GPU simulator
Version: @PROJECT_VERSION@
Cflags: -std=c++20 -I${prefix}/include
Libs: -L${prefix}/lib/raddle -lraddle_policy -lraddle_base -ldl
]=])
install(FILES ${lib}/raddle.pc DESTINATION lib/pkgconfig)

# Machines and experiments are in the program too; these are to be read, copied and extended.
install(DIRECTORY gpus energy experiments DESTINATION share/raddle)
install(DIRECTORY examples DESTINATION share/raddle USE_SOURCE_PERMISSIONS)
install(DIRECTORY docs DESTINATION share/doc/raddle PATTERN "*.sh" EXCLUDE)
install(FILES README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff DESTINATION share/doc/raddle)
install(FILES LICENSE DESTINATION share/doc/raddle RENAME copyright)
install(FILES LICENSE DESTINATION share/doc/raddle)
install(FILES src/raddle/curand/NOTICE DESTINATION share/doc/raddle RENAME NOTICE.curand)
install(FILES workloads/README.md DESTINATION share/doc/raddle/workloads)
# Links in the pages lead where they do in the sources.
foreach(folder gpus energy experiments examples)
  file(CREATE_LINK ../../raddle/${folder} ${lib}/${folder} SYMBOLIC)
  install(FILES ${lib}/${folder} DESTINATION share/doc/raddle)
endforeach()

# ./x package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME raddle)
set(CPACK_PACKAGE_CONTACT "The Raddle authors <raddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level GPU simulator and laboratory for scheduling")
set(CPACK_PACKAGE_DESCRIPTION "Runs CUDA kernels, as PTX, on simulated GPUs whose scheduling is made of policies that can be
exchanged, and shows what changed and why. Unmodified CUDA programs, experiments of five papers, reports.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")  # raddle plugin
if(RADDLE_PYTHON)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};raddle;ALL;/;${CMAKE_BINARY_DIR};raddle;python;/")
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", python3-numpy")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "librsvg2-bin, nvidia-cuda-toolkit, slurm-client")
include(CPack)

# find_package(raddle): target raddle::policy (headers, and what policies call), RADDLE_PROGRAM, and
#   raddle_add_plugin(TARGET FILE.cpp...)   TARGET.so with the policies of these files, for `raddle --plugin`
get_filename_component(RADDLE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(RADDLE_PROGRAM "${RADDLE_PREFIX}/bin/raddle")
if(NOT TARGET raddle::policy)
  add_library(raddle::policy INTERFACE IMPORTED)
  set_target_properties(raddle::policy PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RADDLE_PREFIX}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "${RADDLE_PREFIX}/lib/raddle/libraddle_policy.a;${RADDLE_PREFIX}/lib/raddle/libraddle_base.a;${CMAKE_DL_LIBS}")
endif()

function(raddle_add_plugin target)
  set(files "")
  foreach(file ${ARGN})
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  set(entry "${CMAKE_CURRENT_BINARY_DIR}/${target}_entry.cpp")
  # Which policies there are stands in the files.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  execute_process(COMMAND "${RADDLE_PREFIX}/lib/raddle/plugin.sh" ${files} --entry "${entry}"
    RESULT_VARIABLE status ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${error}")
  endif()
  add_library(${target} MODULE ${files} "${entry}")
  target_link_libraries(${target} PRIVATE raddle::policy)
  set_target_properties(${target} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

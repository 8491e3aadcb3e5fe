# raddle_levels(table folder out): what is made from a table of policy levels (src/raddle/policy/levels.def) besides
# what the preprocessor makes of it, in the folder `out`:
#   raddle/policy/level_headers.h  includes the policy.h of each level
#   all_policies.cpp               all_policies(): calls add_<level>_<name>(Registry<...>&) of every
#                                  src/raddle/policy/<level>/<name>.cpp, and of those in `folder` if it is another
function(raddle_levels table folder out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  set(headers "")
  set(declarations "")
  set(calls "")
  set(more "")
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/raddle/policy/levels.def lines REGEX "^RADDLE_LEVEL\\(")
  if(NOT table STREQUAL "${CMAKE_SOURCE_DIR}/src/raddle/policy/levels.def")
    file(STRINGS ${table} more REGEX "^RADDLE_LEVEL\\(")
  endif()
  foreach(line IN LISTS lines more)
    if(NOT line MATCHES "^RADDLE_LEVEL\\(([a-z0-9_]+), *([A-Za-z0-9]+), *\"[a-z0-9_]+\", *(Always|Optional), *(First|Last|Never),")
      message(FATAL_ERROR "${table}: not a line of the table of levels: ${line}")
    endif()
    set(level ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    string(APPEND headers "#include \"raddle/policy/${level}/policy.h\"\n")
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/policy/${level}/*.cpp ${folder}/${level}/*.cpp)
    list(REMOVE_DUPLICATES files)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      string(APPEND declarations "void add_${level}_${name}(Registry<${type}>&);\n")
      string(APPEND calls "  add_${level}_${name}(all.${level});\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${out}/raddle/policy/level_headers.h CONTENT "#pragma once\n${headers}")
  file(CONFIGURE OUTPUT ${out}/all_policies.cpp CONTENT
"#include \"raddle/policy/all.h\"
#include \"raddle/policy/plugins.h\"
namespace raddle::policy {
${declarations}
Registries all_policies() {
  Registries all;
${calls}  add_plugins(all);
  return all;
}
}  // namespace raddle::policy
")
endfunction()

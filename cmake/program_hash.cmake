# cmake -DLIST=FILE -DROOT=FOLDER -DOUTPUT=FILE.cpp -P program_hash.cmake: hashes over the contents of all files
# that LIST names (one a line): of all of them, of each policy (src/raddle/policy/LEVEL/NAME.cpp) and each workload
# (workloads/NAME/), and of what is left, the core, as raddle::sim::source_hashes().
#
# A header of policies or workloads belongs to those that include it, directly or through another such header; to
# the core too when something there includes it.
cmake_minimum_required(VERSION 3.22)
file(STRINGS ${LIST} sources)
set(all "")
set(core "")    # files of the core
set(shared "")  # headers of policies and workloads
set(parts "")   # names of policies and workloads, "warp/gto"
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND all ${hash})
  file(RELATIVE_PATH name ${ROOT} ${source})
  set(hash_of_${name} ${hash})
  set(included "")
  file(STRINGS ${source} lines REGEX "^#include \"")
  foreach(line ${lines})
    if(line MATCHES "^#include \"(raddle/policy/[a-z0-9_]+/[a-z0-9_]+\\.h)\"")
      list(APPEND included src/${CMAKE_MATCH_1})
    elseif(line MATCHES "^#include \"([a-z0-9_]+/[a-z0-9_]+\\.h)\"")
      list(APPEND included workloads/${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(includes_of_${name} ${included})
  if(name MATCHES "^src/raddle/policy/([a-z0-9_]+/[a-z0-9_]+)\\.cpp$")
    list(APPEND parts ${CMAKE_MATCH_1})
    list(APPEND files_of_${CMAKE_MATCH_1} ${name})
  elseif(name MATCHES "^workloads/([a-z0-9_]+)/.*\\.(cpp|ptx)$" AND NOT CMAKE_MATCH_1 STREQUAL "common")
    list(APPEND parts workload/${CMAKE_MATCH_1})
    list(APPEND files_of_workload/${CMAKE_MATCH_1} ${name})
  elseif(name MATCHES "^src/raddle/policy/[a-z0-9_]+/" AND NOT name MATCHES "/policy\\.h$")
    list(APPEND shared ${name})
  elseif(name MATCHES "^workloads/.*\\.h$")
    list(APPEND shared ${name})
  else()
    list(APPEND core ${name})
  endif()
endforeach()
list(REMOVE_DUPLICATES parts)

# with_shared(out files...): the files and the shared headers that they include, and these, and so on.
function(with_shared out)
  set(found ${ARGN})
  set(new ${ARGN})
  while(new)
    list(POP_FRONT new file)
    foreach(header ${includes_of_${file}})
      if(header IN_LIST shared AND NOT header IN_LIST found)
        list(APPEND found ${header})
        list(APPEND new ${header})
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# hash_of(out files...): 16 hexadecimal digits.
function(hash_of out)
  set(text "")
  foreach(file ${ARGN})
    string(APPEND text ${hash_of_${file}})
  endforeach()
  string(SHA256 text "${text}")
  string(SUBSTRING ${text} 0 16 text)
  set(${out} ${text} PARENT_SCOPE)
endfunction()

string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 all)
with_shared(files ${core})
hash_of(core_hash ${files})
set(table "")
foreach(part ${parts})
  with_shared(files ${files_of_${part}})
  hash_of(part_hash ${files})
  string(APPEND table "           {\"${part}\", \"${part_hash}\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"raddle/sim/result/version.h\"
namespace raddle::sim {
std::string_view sources_hash() { return \"${all}\"; }
SourceHashes source_hashes() {
  return {\"${core_hash}\",
          {
${table}          }};
}
}  // namespace raddle::sim
")

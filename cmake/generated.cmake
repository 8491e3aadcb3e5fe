# Lists that CMake writes from file names: policies, families of instructions, analyses, workloads, embedded PTX.
set(generated ${CMAKE_BINARY_DIR}/generated)

# raddle_stamp(out files...): a comment that is another when a file is. The lists below read files by .incbin, of which neither
# ccache nor a piece of several sources knows: with the comment they are other sources.
function(raddle_stamp out)
  set(all "")
  foreach(file ${ARGN})
    file(SHA256 ${file} hash)
    string(APPEND all ${hash})
  endforeach()
  string(SHA256 all "${all}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(${out} "// ${all}" PARENT_SCOPE)
endfunction()

# raddle_embed(out symbol file): appends the C++ text by which the symbol is where the file's bytes are, and <symbol>_end where they
# end. Hidden, so that no address is read from a global offset table: AArch64's linker has one entry for all local symbols.
function(raddle_embed out symbol file)
  string(APPEND ${out} "asm(\".section .rodata\\n${symbol}:\\n.incbin \\\"${file}\\\"\\n${symbol}_end:\\n.byte 0\\n.previous\\n\");
extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[], ${symbol}_end[];\n")
  set(${out} "${${out}}" PARENT_SCOPE)
endfunction()

# --- policies: src/raddle/policy/levels.def and the files in the levels' folders ---
include(cmake/levels.cmake)
raddle_levels(${CMAKE_SOURCE_DIR}/src/raddle/policy/levels.def ${CMAKE_SOURCE_DIR}/src/raddle/policy ${generated})
set(RADDLE_POLICY_LIST ${generated}/all_policies.cpp)

# --- families of instructions: src/raddle/exec/decode/family/<name>.cpp ---
include(cmake/families.cmake)
set(RADDLE_FAMILIES ${CMAKE_SOURCE_DIR}/src/raddle/exec/decode/family)
set(RADDLE_FAMILY_LIST ${generated}/all_families.cpp)
raddle_families(${RADDLE_FAMILY_LIST} ${RADDLE_FAMILIES})
# --- analyses: the files of src/raddle/sim/analyses ---
include(cmake/analyses.cmake)
raddle_analyses(${CMAKE_SOURCE_DIR}/src/raddle/sim/analyses ${generated})
set(RADDLE_ANALYSIS_LIST ${generated}/all_analyses.cpp)

# --- one hash over the headers that policies are compiled with: a plug-in must have the program's ---
set(RADDLE_INTERFACE_HASH ${generated}/raddle/policy/interface_hash.h)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/policy/*.h
  ${CMAKE_SOURCE_DIR}/src/raddle/policy/*.def ${CMAKE_SOURCE_DIR}/src/raddle/base/*.h)
list(JOIN headers "\n" lines)
file(CONFIGURE OUTPUT ${generated}/policy_headers.txt CONTENT "${lines}\n")
add_custom_command(OUTPUT ${RADDLE_INTERFACE_HASH} DEPENDS ${headers} ${generated}/policy_headers.txt
  ${CMAKE_SOURCE_DIR}/cmake/interface_hash.cmake
  COMMAND ${CMAKE_COMMAND} -DLIST=${generated}/policy_headers.txt -DOUTPUT=${RADDLE_INTERFACE_HASH}
  -P ${CMAKE_SOURCE_DIR}/cmake/interface_hash.cmake VERBATIM)

# --- workloads: workloads/<name>/<name>.cpp defines add_workload_<name>(Workloads&) ---
file(GLOB folders CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/*/kernels.ptx)
file(GLOB RADDLE_WORKLOAD_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/*/*.cpp)
set(decls "")
set(calls "")
set(bytes "")
set(table "")
set(ptx_files "")
foreach(ptx ${folders})
  get_filename_component(folder ${ptx} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  string(APPEND decls "void add_workload_${name}(Workloads&);\n")
  string(APPEND calls "  add_workload_${name}(all);\n")
  raddle_embed(bytes ptx_${name} ${ptx})
  string(APPEND table "  if (workload == \"${name}\") return {ptx_${name}, static_cast<std::size_t>(ptx_${name}_end - ptx_${name})};\n")
  list(APPEND ptx_files ${ptx})
endforeach()
set(registers ${CMAKE_SOURCE_DIR}/workloads/registers.csv)
raddle_embed(bytes registers_csv ${registers})
list(APPEND ptx_files ${registers})
raddle_stamp(stamp ${ptx_files})
file(CONFIGURE OUTPUT ${generated}/all_workloads.cpp CONTENT
"${stamp}
#include \"raddle/runtime/workload.h\"
${bytes}
namespace raddle::runtime {
${decls}
Workloads all_workloads() {
  Workloads all;
${calls}  return all;
}
std::string_view embedded_ptx(std::string_view workload) {
${table}  throw InputError(\"no PTX is embedded for workload '\" + std::string(workload) + \"'\");
}
std::string_view embedded_registers() {
  return {registers_csv, static_cast<std::size_t>(registers_csv_end - registers_csv)};
}
}  // namespace raddle::runtime
")
set_source_files_properties(${generated}/all_workloads.cpp PROPERTIES OBJECT_DEPENDS "${ptx_files}")
list(APPEND RADDLE_WORKLOAD_SOURCES ${generated}/all_workloads.cpp)

# --- every gpus/*.toml and energy/*.toml is embedded, so that the program finds them wherever it stands ---
set(RADDLE_TOML_LIST ${generated}/all_toml.cpp)
set(bytes "")
set(functions "")
set(toml_files "")
foreach(folder gpus energy)
  set(table "")
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.toml)
  list(APPEND toml_files ${files})
  foreach(toml ${files})
    get_filename_component(name ${toml} NAME_WE)
    set(symbol toml_${folder}_${name})
    raddle_embed(bytes ${symbol} ${toml})
    string(APPEND table "      {\"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
  endforeach()
  string(APPEND functions "std::vector<EmbeddedToml> embedded_${folder}() {
  return {
${table}  };
}
")
endforeach()
raddle_stamp(stamp ${toml_files})
file(CONFIGURE OUTPUT ${RADDLE_TOML_LIST} CONTENT
"${stamp}
#include \"raddle/sim/setup/gpus.h\"
${bytes}
namespace raddle::sim {
${functions}}  // namespace raddle::sim
")
set_source_files_properties(${RADDLE_TOML_LIST} PROPERTIES OBJECT_DEPENDS "${toml_files}")

# --- data/silicon/<device>/*.csv, what was measured and is compared with ---
set(RADDLE_SILICON_LIST ${generated}/all_silicon.cpp)
file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/data/silicon ${CMAKE_SOURCE_DIR}/data/silicon/*/*.csv)
set(bytes "")
set(table "")
set(silicon_files "")
foreach(file ${files})
  get_filename_component(device ${file} DIRECTORY)
  get_filename_component(name ${file} NAME_WE)
  string(MAKE_C_IDENTIFIER "silicon_${file}" symbol)
  raddle_embed(bytes ${symbol} ${CMAKE_SOURCE_DIR}/data/silicon/${file})
  string(APPEND table "    {\"${device}\", \"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
  list(APPEND silicon_files ${CMAKE_SOURCE_DIR}/data/silicon/${file})
endforeach()
raddle_stamp(stamp ${silicon_files})
file(CONFIGURE OUTPUT ${RADDLE_SILICON_LIST} CONTENT
"${stamp}
#include \"raddle/sim/validate/suite.h\"
${bytes}
namespace raddle::sim {
std::vector<EmbeddedMeasurements> embedded_measurements() {
  return {
${table}  };
}
}  // namespace raddle::sim
")
set_source_files_properties(${RADDLE_SILICON_LIST} PROPERTIES OBJECT_DEPENDS "${silicon_files}")

# --- data/errors/<machine>.csv, how far off kernels were ---
set(RADDLE_ERRORS_LIST ${generated}/all_errors.cpp)
file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/errors/*.csv)
set(bytes "")
set(table "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(MAKE_C_IDENTIFIER "errors_${name}" symbol)
  raddle_embed(bytes ${symbol} ${file})
  string(APPEND table "    {\"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
endforeach()
raddle_stamp(stamp ${files})
file(CONFIGURE OUTPUT ${RADDLE_ERRORS_LIST} CONTENT
"${stamp}
#include \"raddle/sim/result/error_bars.h\"
${bytes}
namespace raddle::sim {
std::vector<EmbeddedErrors> embedded_errors() {
  return {
${table}  };
}
}  // namespace raddle::sim
")
set_source_files_properties(${RADDLE_ERRORS_LIST} PROPERTIES OBJECT_DEPENDS "${files}")

file(CONFIGURE OUTPUT ${generated}/raddle_paths.h CONTENT
"#pragma once
#define RADDLE_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\"
#define RADDLE_VERSION \"${PROJECT_VERSION}\"
")

# --- every experiments/<paper>/*.toml is embedded too ---
set(RADDLE_EXPERIMENT_LIST ${generated}/all_experiments.cpp)
file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/experiments ${CMAKE_SOURCE_DIR}/experiments/*/*.toml)
set(bytes "")
set(table "")
set(experiment_files "")
foreach(file ${files})
  get_filename_component(paper ${file} DIRECTORY)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER "experiment_${file}" symbol)
  raddle_embed(bytes ${symbol} ${CMAKE_SOURCE_DIR}/experiments/${file})
  string(APPEND table "    {\"${paper}\", \"${name}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
  list(APPEND experiment_files ${CMAKE_SOURCE_DIR}/experiments/${file})
endforeach()
raddle_stamp(stamp ${experiment_files})
file(CONFIGURE OUTPUT ${RADDLE_EXPERIMENT_LIST} CONTENT
"${stamp}
#include \"raddle/lab/file/embedded.h\"
${bytes}
namespace raddle::lab {
std::vector<EmbeddedExperiment> embedded_experiments() {
  return {
${table}  };
}
}  // namespace raddle::lab
")
set_source_files_properties(${RADDLE_EXPERIMENT_LIST} PROPERTIES OBJECT_DEPENDS "${experiment_files}")

# --- hashes over all sources that can change what a simulation computes: results tell them, and the
# laboratory keeps results by them ---
set(RADDLE_PROGRAM_HASH ${generated}/program_hash.cpp)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/*.cpp ${CMAKE_SOURCE_DIR}/src/raddle/*.h
  ${CMAKE_SOURCE_DIR}/src/raddle/*.def
  ${CMAKE_SOURCE_DIR}/src/raddle/*.cc ${CMAKE_SOURCE_DIR}/workloads/*.cpp ${CMAKE_SOURCE_DIR}/workloads/*.h
  ${CMAKE_SOURCE_DIR}/workloads/*.ptx ${CMAKE_SOURCE_DIR}/src/raddle/*.ptx)
list(FILTER sources EXCLUDE REGEX "/src/raddle/(lab|report|api|cli)/")
list(JOIN sources "\n" lines)
file(CONFIGURE OUTPUT ${generated}/program_sources.txt CONTENT "${lines}\n")
add_custom_command(OUTPUT ${RADDLE_PROGRAM_HASH} DEPENDS ${sources} ${generated}/program_sources.txt
  ${CMAKE_SOURCE_DIR}/cmake/program_hash.cmake
  COMMAND ${CMAKE_COMMAND} -DLIST=${generated}/program_sources.txt -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${RADDLE_PROGRAM_HASH}
  -P ${CMAKE_SOURCE_DIR}/cmake/program_hash.cmake VERBATIM)

# --- the commit, looked at in every build ---
set(RADDLE_COMMIT ${generated}/commit.cpp)
add_custom_target(raddle_commit BYPRODUCTS ${RADDLE_COMMIT}
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${RADDLE_COMMIT} -P ${CMAKE_SOURCE_DIR}/cmake/commit.cmake VERBATIM)

# --- report pages: web/dist/<page>.html when they have been built, else a plain notice ---
set(RADDLE_REPORT_TEMPLATE ${generated}/report_template.cpp)
set(bytes "")
set(cases "")
set(pages "")
foreach(page index reproduction papers)
  file(GLOB file CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/dist/${page}.html)
  if(NOT file)
    set(file ${CMAKE_SOURCE_DIR}/web/fallback.html)
  endif()
  list(APPEND pages ${file})
  raddle_embed(bytes page_${page} ${file})
  string(APPEND cases "  if (page == Page::${page}) return {page_${page}, static_cast<std::size_t>(page_${page}_end - page_${page})};\n")
endforeach()
raddle_stamp(stamp ${pages})
file(CONFIGURE OUTPUT ${RADDLE_REPORT_TEMPLATE} CONTENT
"${stamp}
#include \"raddle/report/page.h\"
${bytes}
namespace raddle::report {
std::string_view page_template(Page page) {
${cases}  return {};
}
}  // namespace raddle::report
")
set_source_files_properties(${RADDLE_REPORT_TEMPLATE} PROPERTIES OBJECT_DEPENDS "${pages}")

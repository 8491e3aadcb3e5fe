# raddle_analyses(folder out): all_analyses() in `out`/all_analyses.cpp: calls add_analysis_<name>(AnalysisRegistry&)
# of every src/raddle/sim/analyses/<name>.cpp, and of those in `folder` if it is another.
function(raddle_analyses folder out)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/sim/analyses/*.cpp ${folder}/*.cpp)
  list(REMOVE_DUPLICATES files)
  set(declarations "")
  set(calls "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    string(APPEND declarations "void add_analysis_${name}(AnalysisRegistry&);\n")
    string(APPEND calls "  add_analysis_${name}(all);\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out}/all_analyses.cpp CONTENT
"#include \"raddle/sim/profile/analysis.h\"
namespace raddle::sim {
${declarations}
AnalysisRegistry all_analyses() {
  AnalysisRegistry all;
${calls}  return all;
}
}  // namespace raddle::sim
")
endfunction()

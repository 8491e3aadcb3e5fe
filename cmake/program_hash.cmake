# cmake -DLIST=FILE -DOUTPUT=FILE.cpp -P program_hash.cmake: one hash over the contents of all files that LIST
# names (one a line), as raddle::sim::sources_hash().
file(STRINGS ${LIST} sources)
set(all "")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 all)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"raddle/sim/version.h\"
namespace raddle::sim {
std::string_view sources_hash() { return \"${all}\"; }
}  // namespace raddle::sim
")

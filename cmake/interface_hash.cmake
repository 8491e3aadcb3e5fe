# cmake -DLIST=FILE -DOUTPUT=FILE.h -P interface_hash.cmake: one hash over the headers that LIST names (one a line) and
# that a plug-in of policies is compiled with: RADDLE_POLICY_INTERFACE.
file(STRINGS ${LIST} headers)
set(all "")
foreach(header ${headers})
  file(SHA256 ${header} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING ${all} 0 16 all)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define RADDLE_POLICY_INTERFACE \"${all}\"\n")

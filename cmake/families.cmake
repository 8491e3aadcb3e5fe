# raddle_families(out folders...): writes `out`, which defines all_handlers() (src/raddle/exec/decode/decode_context.h)
# from the files NAME.cpp of the folders, each of which defines add_decode_NAME(Handlers&).
function(raddle_families out)
  set(declarations "")
  set(calls "")
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cpp)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      string(APPEND declarations "void add_decode_${name}(Handlers&);\n")
      string(APPEND calls "    add_decode_${name}(all);\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT
"#include \"raddle/exec/decode/decode_context.h\"
namespace raddle::exec {
${declarations}
const Handlers& all_handlers() {
  // Never destroyed: exit handlers of programs launch kernels, too.
  static const Handlers& kAll = *new Handlers([] {
    Handlers all;
${calls}    return all;
  }());
  return kAll;
}
}  // namespace raddle::exec
")
endfunction()

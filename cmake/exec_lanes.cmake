# The lane engine (src/raddle/exec/lanes/*.cc), compiled once per instruction set into namespaces of
# their own; exec picks one when it starts. Results must not depend on which. -ffp-contract=off: PTX
# says where to fuse. On another host than x86-64 there is the portable one alone. One build more tells an observer of every record (exec/run/observation.h), so that the
# others need not ask whether there is one.
file(GLOB lane_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/exec/lanes/*.cc)
set(lane_optimisation -O3)
if(RADDLE_SANITIZE)
  set(lane_optimisation -O1)  # instrumented, -O3 takes minutes a file
endif()
set(lane_options ${lane_optimisation} -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-parentheses)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND lane_options -Wno-maybe-uninitialized)  # in its own intrinsics (GCC bug 105593)
else()
  list(APPEND lane_options -Wno-pass-failed -Wno-bitwise-op-parentheses -Wno-shift-op-parentheses)
endif()
set(lane_isas portable observed)
if(RADDLE_X86)
  list(APPEND lane_isas avx2 avx512)
  set(lane_march_portable -march=x86-64-v2)
  set(lane_march_observed ${lane_march_portable})
  set(lane_march_avx2 -march=x86-64-v3)
  set(lane_march_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
endif()
foreach(isa ${lane_isas})
  string(COMPARE EQUAL ${isa} observed observed)
  add_library(raddle_exec_${isa} OBJECT ${lane_sources})
  target_compile_options(raddle_exec_${isa} PRIVATE ${lane_march_${isa}} ${lane_options})
  target_compile_definitions(raddle_exec_${isa} PRIVATE RADDLE_ISA=${isa} RADDLE_ISA_NAME="${isa}"
    RADDLE_OBSERVED=${observed})
  target_sources(raddle_exec PRIVATE $<TARGET_OBJECTS:raddle_exec_${isa}>)
endforeach()

# The rooms that run every simulated cycle, and the programs whose speed is measured. What each
# switch buys stands in docs/performance.md.
# - strict aliasing: nothing in these rooms looks at an object through another type (exec does);
# - RADDLE_ARCH: bit counting and AVX2 for masks; floating point stays as written;
# - link-time optimisation (gcc, release): tests link the same objects without it, so that they
#   link fast.
set(arch "")
if(RADDLE_X86)
  set(arch x86-64-v3)
endif()
set(RADDLE_ARCH "${arch}" CACHE STRING "-march of the timing model; empty: the compiler's default")

set(hot_options -fstrict-aliasing -ffp-contract=off)
if(RADDLE_ARCH)
  list(APPEND hot_options -march=${RADDLE_ARCH})
endif()
set(hot_link_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  list(APPEND hot_options -flto -ffat-lto-objects)
  set(hot_link_options -flto=auto)
  add_link_options(-fno-lto)  # every other program: gcc would do it wherever it sees such an object
endif()
# In one piece with nine others gcc inlines less of what an SM does in a cycle: 1.4 to 2.6 % more instructions.
file(GLOB hot_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/timing/sm/*.cpp ${CMAKE_SOURCE_DIR}/src/raddle/timing/wire/*.cpp
  ${CMAKE_SOURCE_DIR}/src/raddle/lowering/*.cpp)
set_source_files_properties(${hot_files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
foreach(room timing policy)
  target_compile_options(raddle_${room} PRIVATE ${hot_options})
endforeach()
# Rooms that run before and after a simulation, not in it: a quarter less time to compile than with -O2. Instrumented
# clang needs half the time for -O0 that it needs for -O1, but the fuzzers run these rooms, too.
if(RADDLE_SANITIZE AND NOT RADDLE_FUZZ)
  set(cold_options -O0)
else()
  set(cold_options -O1)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" OR (RADDLE_SANITIZE AND NOT RADDLE_FUZZ))
  foreach(room config report lab api cli)
    target_compile_options(raddle_${room} PRIVATE ${cold_options})
  endforeach()
endif()
if(RADDLE_ARCH STREQUAL "x86-64-v3")
  set_property(SOURCE src/raddle/cli/main.cpp APPEND PROPERTY COMPILE_DEFINITIONS RADDLE_NEEDS_X86_64_V3)
endif()

# raddle_fast_program(target): links with link-time optimisation where there is one.
function(raddle_fast_program target)
  if(hot_link_options)
    # Without the directory's -fno-lto: with both, gcc 12 leaves the optimisation out.
    get_target_property(options ${target} LINK_OPTIONS)
    list(REMOVE_ITEM options -fno-lto)
    set_target_properties(${target} PROPERTIES LINK_OPTIONS "${options};${hot_link_options}")
  endif()
endfunction()

# Host code of workloads: their references compute as much as the kernels do.
target_compile_options(raddle_workloads PRIVATE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(raddle_workloads PRIVATE -ftree-vectorize -fvect-cost-model=dynamic)
endif()
if(RADDLE_ARCH)
  target_compile_options(raddle_workloads PRIVATE -march=${RADDLE_ARCH})
endif()

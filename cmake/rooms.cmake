# With RADDLE_UNITY the files of a room are compiled ten at a time: each reads the same headers, which takes longer than what
# it adds. Where a user adds a file (policies, workloads), in tests, and in libraries for CUDA programs, names of two files may be the same. There the
# headers that most files read are compiled once instead (raddle_precompile).
option(RADDLE_UNITY "compile rooms in few large pieces: a whole build takes less, one changed file takes longer" OFF)
set(rooms_of_users policy cufft curand cusparse)

# raddle_in_pieces(target): with RADDLE_UNITY, its files ten at a time.
function(raddle_in_pieces target)
  if(RADDLE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # which takes a piece for a header
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# raddle_room(name deps...): static library raddle_<name> from src/raddle/<name>/**/*.cpp (main.cpp apart).
function(raddle_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/empty_${name}.cpp "// room without sources yet\n")
    set(sources ${CMAKE_BINARY_DIR}/generated/empty_${name}.cpp)
  endif()
  add_library(raddle_${name} STATIC ${sources})
  if(NOT name IN_LIST rooms_of_users)
    raddle_in_pieces(raddle_${name})
  endif()
  foreach(dep ${ARGN})
    target_link_libraries(raddle_${name} PUBLIC raddle_${dep})
  endforeach()
endfunction()

# raddle_precompile(target headers...): with RADDLE_UNITY, what its files need not read again. They must include it all the same.
function(raddle_precompile target)
  if(RADDLE_UNITY)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    raddle_cache_precompiled(${target})
  endif()
endfunction()
# raddle_reuse_precompiled(target other): the other's, which is compiled with the same options.
function(raddle_reuse_precompiled target other)
  if(RADDLE_UNITY)
    target_precompile_headers(${target} REUSE_FROM ${other})
    raddle_cache_precompiled(${target})
  endif()
endfunction()
# What ccache asks for before it keeps what was compiled with such headers (scripts/common.sh sets its sloppiness).
function(raddle_cache_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

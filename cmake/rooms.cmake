# Rooms whose files are compiled ten at a time with RADDLE_UNITY: each file reads the same headers, which takes longer than
# what it adds. Not those to which a user adds a file (policies, workloads), nor those that run every cycle or lane.
option(RADDLE_UNITY "compile most rooms in few large pieces: a whole build takes less, one changed file takes longer" OFF)
set(unity_rooms base stats accelsim config sim report lab api cli cudart)

# raddle_room(name deps...): static library raddle_<name> from src/raddle/<name>/**/*.cpp (main.cpp apart).
function(raddle_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/raddle/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/empty_${name}.cpp "// room without sources yet\n")
    set(sources ${CMAKE_BINARY_DIR}/generated/empty_${name}.cpp)
  endif()
  add_library(raddle_${name} STATIC ${sources})
  if(RADDLE_UNITY AND name IN_LIST unity_rooms)
    set_target_properties(raddle_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # which takes a piece for a header
      target_compile_options(raddle_${name} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
  foreach(dep ${ARGN})
    target_link_libraries(raddle_${name} PUBLIC raddle_${dep})
  endforeach()
endfunction()

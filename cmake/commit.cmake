# cmake -DROOT=FOLDER -DOUTPUT=FILE.cpp -P commit.cmake: raddle::sim::commit(), the commit that is built, "" outside of
# a checkout; "+changes" where tracked files differ from it. Written only when it is another one than before.
cmake_minimum_required(VERSION 3.22)
set(commit "")
execute_process(COMMAND git -C ${ROOT} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE head ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
if(status EQUAL 0 AND EXISTS ${ROOT}/.git)
  set(commit ${head})
  execute_process(COMMAND git -C ${ROOT} diff-index --quiet HEAD -- src workloads gpus experiments RESULT_VARIABLE differs
    ERROR_QUIET)
  if(NOT differs EQUAL 0)
    string(APPEND commit "+changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
// Made by cmake/commit.cmake.
#include "raddle/sim/result/commit.h"

namespace raddle::sim {
std::string_view commit() { return "@commit@"; }
}  // namespace raddle::sim
]=])

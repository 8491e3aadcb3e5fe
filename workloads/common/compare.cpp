#include "common/compare.h"

#include <iomanip>
#include <sstream>

namespace raddle::workloads {

namespace {

std::ostringstream opening(std::string_view what, std::size_t at) {
  std::ostringstream text;
  text << what << '[' << at << "]: expected " << std::setprecision(10);
  return text;
}

}  // namespace

std::string difference_text(std::string_view what, std::size_t at, double expected, double got) {
  auto text = opening(what, at);
  text << expected << ", got " << got;
  return text.str();
}

std::string difference_text(std::string_view what, std::size_t at, double expected, double got,
                            double tolerance) {
  auto text = opening(what, at);
  text << expected << " +- " << std::setprecision(3) << tolerance << std::setprecision(10)
       << ", got " << got;
  return text.str();
}

std::string length_text(std::string_view what, std::size_t expected, std::size_t got) {
  std::ostringstream text;
  text << what << ": expected " << expected << " elements, got " << got;
  return text.str();
}

}  // namespace raddle::workloads

// The report page as built from web/ (generated; see cmake/generated.cmake).
#pragma once
#include <string_view>

namespace raddle::report {
std::string_view page_template();
}

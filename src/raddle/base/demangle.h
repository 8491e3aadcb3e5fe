// Names of C++ functions as their authors wrote them.
#pragma once
#include <string>
#include <string_view>

namespace raddle {

/// "_Z4fillILi3EEvPfi" -> "fill<3>(float*, int)", the return type left out. Other names, and those
/// that would be too long, as they are.
std::string demangled(std::string_view name);

/// The same without the parameters, for messages and tables: "fill<3>".
std::string short_name(std::string_view name);

}  // namespace raddle

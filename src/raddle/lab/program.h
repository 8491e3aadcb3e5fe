// Which program made a result: results of another one are never taken for this one's.
#pragma once
#include <string>

namespace raddle::lab {

/// sim::version(), for the keys of kept results.
std::string program_name();

}  // namespace raddle::lab

// The numbers of a result as expressions and the store know them.
#pragma once
#include <map>
#include <string>

#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// Every number of a result that is not inside a list, by its path.
std::map<std::string, double> numbers_of(const Json& result);

}  // namespace raddle::lab

// Work in a process of its own, so that whatever it does to itself does not end this one.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace raddle::lab {

/// What `body` returns, run in a copy of this process that prints nothing and is killed after
/// `limit`. Null when it threw, crashed, left or was killed. Its InputError is thrown here as one
/// of the same words. Throws RunError when the system has no room for it. Only the calling thread
/// exists in the copy.
std::optional<std::string> run_apart(const std::function<std::string()>& body,
                                     std::chrono::seconds limit);

}  // namespace raddle::lab

// Policies in Python, level by level, and the views that they are given.
#pragma once
#include <string>

#include "convert.h"
#include "raddle/policy/all.h"

namespace raddle::python {

/// Adds a class to the registry of its level; with `replace` in the place of what has its name.
/// Throws InputError.
void add_policy(policy::Registries& all, const std::string& level, const py::object& type,
                bool replace);
void bind_views(py::module_& module);

}  // namespace raddle::python

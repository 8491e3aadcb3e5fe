// Names in braces. "{NAME}" in a policy, a setting or a parameter stands for a derived value, which
// some runs give and others need (experiments/README.md).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/file/experiment.h"
#include "raddle/lab/file/section.h"

namespace raddle::lab {

/// Names in braces, in order. Throws InputError without a place when a brace has no partner or
/// holds no name.
std::vector<std::string> placeholders(std::string_view text);

/// What a name stands for, as it is written in a file: "4", or "0.5+0.75" of a list.
using DerivedText = std::function<std::string(const std::string& name)>;
/// The text with every placeholder replaced. Precondition: placeholders() accepts it.
std::string filled(std::string_view text, const DerivedText& derived);
/// A value that is one placeholder becomes a number, if it is one.
Setting filled(Setting setting, const DerivedText& derived);

// Texts in which a placeholder may stand.
using VisitText = std::function<void(const std::string& text, const Place& place)>;
void visit_texts(const Settings& settings, const VisitText& f);
void visit_texts(const Variant& variant, const VisitText& f);
void visit_texts(const AxisPoint& point, const VisitText& f);
/// Parameters of the workload and of those that are its members.
void visit_texts(const Experiment& e, const Workload& workload, const VisitText& f);
/// All of the file.
void visit_texts(const Experiment& e, const VisitText& f);

/// Adds everything that is wrong with derived values and with the names in braces.
void check_derived(const Experiment& e, Problems& problems);

}  // namespace raddle::lab

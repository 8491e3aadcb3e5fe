// A policy that is a class of Python: its parameters and statistics, its instances, and how the
// hooks of an interface reach it. Hooks that a class does not override cost nothing.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "convert.h"
#include "raddle/base/fields.h"
#include "raddle/policy/registry.h"

namespace raddle::python {

/// raddle.parameter(...) in a class.
struct Parameter {
  std::string name, unit, meaning;
  /// `choices` where these are not empty: the position among them, else what the default is.
  std::variant<bool, std::uint64_t, double, std::string, std::uint32_t> value;
  double low = 0, high = 0;  ///< of numbers
  std::vector<std::string> choices;

  void visit(FieldVisitor& v);
  py::object object() const;
};

/// raddle.statistic(...) in a class.
struct Statistic {
  std::string name, unit, meaning;
  bool real = false;  ///< it began as one, so that all instances tell the same kind
};

/// What a class says of itself. The interpreter's lock is held by whoever makes one.
struct PolicyClass {
  explicit PolicyClass(const py::object& type);
  Held type;
  std::string name, doc;
  std::vector<Parameter> parameters;
  std::vector<Statistic> statistics;
};

/// An object of the class, made with the context, its parameters being attributes.
class Instance {
 public:
  /// Takes the lock.
  Instance(const PolicyClass& of, const py::dict& context);
  /// A hook of that name, of the class or put into the object by its __init__; empty where there
  /// is the interface's own only.
  Held hook(const char* name) const;
  /// The hook that no policy of the level is without: the interface's own says so when called.
  Held deciding_hook(const char* name) const { return Held(object_.get().attr(name)); }
  /// What the hook of that name answers once, while the object is made.
  py::object asked(const char* name) const { return object_.get().attr(name)(); }
  void visit_statistics(FieldVisitor& v) const;

 private:
  Held object_;
  std::vector<Statistic> statistics_;
};

/// `Policy`: derives from Interface, has Policy(const PolicyClass&, const Context&), which is
/// called with the lock held.
template <class Interface, class Policy>
class ChoiceOfClass final : public policy::Choice<Interface> {
 public:
  explicit ChoiceOfClass(PolicyClass of) : of_(std::move(of)), default_(of_.parameters) {}
  std::string_view name() const override { return of_.name; }
  std::string_view doc() const override { return of_.doc; }
  void visit(FieldVisitor& v) override {
    for (Parameter& one : of_.parameters) one.visit(v);
  }
  std::vector<std::string> violations(const policy::MachineFacts& machine) const override {
    const WithPython lock;
    py::dict parameters = new_record(), facts = new_record();
    for (const Parameter& one : of_.parameters) parameters[one.name.c_str()] = one.object();
    facts["warps"] = machine.warps;
    facts["l1d"] = machine.l1d;
    facts["store_buffer"] = machine.store_buffer;
    facts["mesh"] = machine.mesh;
    facts["sms"] = machine.sms;
    facts["line_bytes"] = machine.line_bytes;
    facts["sector_bytes"] = machine.sector_bytes;
    return of_.type.get()
        .attr("violations")(parameters, facts)
        .template cast<std::vector<std::string>>();
  }
  std::unique_ptr<Interface> make(const typename Interface::Context& context) const override {
    const WithPython lock;
    return std::make_unique<Policy>(of_, context);
  }
  std::unique_ptr<policy::Choice<Interface>> fresh() const override {
    PolicyClass fresh = of_;
    fresh.parameters = default_;
    return std::make_unique<ChoiceOfClass>(std::move(fresh));
  }

 private:
  PolicyClass of_;
  std::vector<Parameter> default_;
};

/// Calls a hook that is there. Precondition: the lock is held.
template <class... Args>
py::object call(const Held& hook, Args&&... args) {
  return hook.get()(std::forward<Args>(args)...);
}
inline py::object call(const Held& hook, const py::object& view) {
  PyObject* const out = PyObject_CallOneArg(hook.get().ptr(), view.ptr());
  if (out == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(out);
}

}  // namespace raddle::python

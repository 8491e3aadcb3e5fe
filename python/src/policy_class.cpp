#include "policy_class.h"

#include <limits>

namespace raddle::python {

namespace {

/// A choice by its position.
enum class Position : std::uint32_t {};

template <class T>
Range<T> range_of(double low, double high) {
  Range<T> out;
  if (low > static_cast<double>(out.low)) out.low = static_cast<T>(low);
  if (high < static_cast<double>(out.high)) out.high = static_cast<T>(high);
  return out;
}

Parameter parameter_of(const py::object& object) {
  Parameter out;
  out.name = object.attr("name").cast<std::string>();
  out.unit = object.attr("unit").cast<std::string>();
  out.meaning = object.attr("meaning").cast<std::string>();
  const double infinity = std::numeric_limits<double>::infinity();
  const py::object low = object.attr("low"), high = object.attr("high"),
                   value = object.attr("default"), choices = object.attr("choices");
  out.low = low.is_none() ? -infinity : low.cast<double>();
  out.high = high.is_none() ? infinity : high.cast<double>();
  if (!choices.is_none()) {
    out.choices = choices.cast<std::vector<std::string>>();
    const auto chosen = value.cast<std::string>();
    for (std::uint32_t i = 0; i < out.choices.size(); ++i)
      if (out.choices[i] == chosen) out.value = i;
  } else if (py::isinstance<py::bool_>(value)) out.value = value.cast<bool>();
  else if (py::isinstance<py::int_>(value))
    out.value = number_of<std::uint64_t>(value, "a parameter that is not negative");
  else if (py::isinstance<py::float_>(value)) out.value = value.cast<double>();
  else out.value = value.cast<std::string>();
  return out;
}

}  // namespace

void Parameter::visit(FieldVisitor& v) {
  if (auto* position = std::get_if<std::uint32_t>(&value)) {
    const std::vector<std::string_view> names(choices.begin(), choices.end());
    auto chosen = static_cast<Position>(*position);
    v.choice(name, chosen, names, meaning);
    *position = static_cast<std::uint32_t>(chosen);
  } else if (auto* flag = std::get_if<bool>(&value)) v.field(name, *flag, meaning);
  else if (auto* whole = std::get_if<std::uint64_t>(&value))
    v.field(name, *whole, range_of<std::uint64_t>(low, high), unit, meaning);
  else if (auto* real = std::get_if<double>(&value))
    v.field(name, *real, range_of<double>(low, high), unit, meaning);
  else v.field(name, std::get<std::string>(value), meaning);
}

py::object Parameter::object() const {
  if (const auto* position = std::get_if<std::uint32_t>(&value))
    return py::str(choices.at(*position));
  return std::visit([](const auto& one) -> py::object { return py::cast(one); }, value);
}

PolicyClass::PolicyClass(const py::object& type_of)
    : type(type_of),
      name(type_of.attr("name").cast<std::string>()),
      doc(type_of.attr("doc")().cast<std::string>()) {
  for (const py::handle one : type_of.attr("parameters")())
    parameters.push_back(parameter_of(py::reinterpret_borrow<py::object>(one)));
  for (const py::handle one : type_of.attr("statistics")())
    statistics.push_back(
        {one.attr("name").cast<std::string>(), one.attr("unit").cast<std::string>(),
         one.attr("meaning").cast<std::string>(), py::isinstance<py::float_>(one.attr("start"))});
}

Instance::Instance(const PolicyClass& of, const py::dict& context) : statistics_(of.statistics) {
  const py::object& type = of.type.get();
  py::object object = type.attr("__new__")(type);
  for (const Parameter& one : of.parameters) py::setattr(object, one.name.c_str(), one.object());
  for (const Statistic& one : of.statistics) {
    const py::object start = one.real ? py::object(py::float_(0.0)) : py::object(py::int_(0));
    py::setattr(object, one.name.c_str(), start);
  }
  object.attr("__init__")(context);
  object_ = Held(std::move(object));
}

Held Instance::hook(const char* name) const {
  const py::object& object = object_.get();
  const py::object own = py::type::of(object).attr(name),
                   given = object.attr("__raddle_base__").attr(name);
  const bool in_object = py::hasattr(object, "__dict__") && object.attr("__dict__").contains(name);
  return own.is(given) && !in_object ? Held() : Held(object.attr(name));
}

void Instance::visit_statistics(FieldVisitor& v) const {
  if (statistics_.empty()) return;
  const WithPython lock;
  for (const Statistic& one : statistics_) {
    const py::object value = object_.get().attr(one.name.c_str());
    if (one.real) {
      auto number = number_of<double>(value, ("numbers in " + one.name).c_str());
      v.field(one.name, number, {}, one.unit, one.meaning);
    } else {
      auto number = number_of<std::uint64_t>(value, ("whole numbers in " + one.name).c_str());
      v.field(one.name, number, {}, one.unit, one.meaning);
    }
  }
}

}  // namespace raddle::python

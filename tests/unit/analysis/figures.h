// What an analysis writes, by name.
#pragma once
#include <map>
#include <string>

#include "support/no_fields.h"

namespace raddle::analysis {

/// Figures by path.
class Figures final : public test::NoFields {
 public:
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    at[path_ + std::string(name)] = static_cast<double>(value);
  }
  void field(std::string_view name, double& value, Range<double>, std::string_view,
             std::string_view) override {
    at[path_ + std::string(name)] = value;
  }
  void enter(std::string_view name, std::string_view) override { path_ += std::string(name) + "."; }
  void leave() override {
    path_.pop_back();
    path_.erase(path_.rfind('.') + 1);
  }
  std::map<std::string, double> at;

 private:
  std::string path_;
};

}  // namespace raddle::analysis

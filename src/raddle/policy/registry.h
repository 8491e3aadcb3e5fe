// How a policy is found by name. A policy file defines its class (with nested Params) and ends with
//     void add_warp_gto(Registry<WarpPolicy>& r) { r.add<Gto>("gto", "what it does"); }
// CMake lists the folder, so dropping the file in and building is enough. The registry is an
// object, not a static: tests make their own.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/fields.h"

namespace raddle::policy {

/// What the rules of a policy's parameters may depend on.
struct MachineFacts {
  std::uint32_t warps = 64;  ///< slots of an SM
  bool l1d = true;           ///< SMs have a first-level data cache
  bool store_buffer = false;
  bool mesh = false;  ///< the interconnect is one
  std::uint32_t sms = 1;
  /// Of L1 and L2, the largest and the smallest.
  std::uint32_t line_bytes = 128, sector_bytes = 32;
};

/// A policy chosen by name, its parameters at their defaults until a reader visits them.
/// Makes as many instances as the machine has places for it.
template <class Interface>
class Choice {
 public:
  using Context = typename Interface::Context;
  virtual ~Choice() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view doc() const = 0;
  virtual void visit(FieldVisitor& v) = 0;
  /// Rules between parameters, and between them and the machine: one sentence for each that is
  /// broken, naming keys and values. Empty = sound.
  virtual std::vector<std::string> violations(const MachineFacts&) const { return {}; }
  virtual std::unique_ptr<Interface> make(const Context& context) const = 0;
  /// The same policy, its parameters at their defaults.
  virtual std::unique_ptr<Choice> fresh() const = 0;
};

template <class Interface>
class Registry {
 public:
  /// P: derives from Interface, has `struct Params { void visit(FieldVisitor&); }` and P(const
  /// Params&, const Context&). Params may have violations(const MachineFacts&) const.
  template <class P>
  void add(std::string_view name, std::string_view doc) {
    add(std::make_unique<ChoiceOf<P>>(name, doc));
  }
  /// A policy that is no class of its own, one written in another language.
  void add(std::unique_ptr<const Choice<Interface>> policy) {
    const std::string name(policy->name());
    if (!known_.emplace(name, std::move(policy)).second)
      throw InputError("two policies are called '" + name + "'");
  }
  void remove(std::string_view name) {
    if (const auto at = known_.find(name); at != known_.end()) known_.erase(at);
  }
  /// Throws InputError naming the known ones when there is no such policy.
  std::unique_ptr<Choice<Interface>> choose(std::string_view name) const {
    const auto found = known_.find(name);
    if (found != known_.end()) return found->second->fresh();
    std::string known;
    for (const std::string& one : names()) known += " " + one;
    throw InputError("no " + std::string(Interface::kLevel) + " policy is called '" +
                     std::string(name) + "'; known:" + known);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, policy] : known_) all.push_back(name);
    return all;
  }

 private:
  template <class P>
  class ChoiceOf final : public Choice<Interface> {
   public:
    ChoiceOf(std::string_view name, std::string_view doc) : name_(name), doc_(doc) {}
    std::string_view name() const override { return name_; }
    std::string_view doc() const override { return doc_; }
    void visit(FieldVisitor& v) override { params_.visit(v); }
    std::vector<std::string> violations(const MachineFacts& machine) const override {
      if constexpr (requires { params_.violations(machine); }) return params_.violations(machine);
      else return {};
    }
    std::unique_ptr<Interface> make(const typename Interface::Context& context) const override {
      return std::make_unique<P>(params_, context);
    }
    std::unique_ptr<Choice<Interface>> fresh() const override {
      return std::make_unique<ChoiceOf>(name_, doc_);
    }

   private:
    std::string name_, doc_;
    typename P::Params params_;
  };
  std::map<std::string, std::shared_ptr<const Choice<Interface>>, std::less<>> known_;
};

/// For policies without parameters.
struct NoParams {
  void visit(FieldVisitor&) {}
};

}  // namespace raddle::policy

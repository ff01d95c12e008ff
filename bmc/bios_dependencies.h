#pragma once
// What a BIOS makes of settings by the dependencies of its registry: which attributes are read-only
// under which values, and which values others change. Pure. Source: DSP0268, AttributeRegistry,
// Dependencies.
#include "bmc/setting_answers.h"

namespace cupel::bmc {

inline constexpr std::string_view kCurrentValue = "CurrentValue", kReadOnly = "ReadOnly",
                                  kGrayOut = "GrayOut", kImmutable = "Immutable";

/// The state of a BIOS once values are set over those that it has. A dependency that sets a value
/// does so only where an attribute that triggers it has changed: HPE's profiles set theirs once,
/// and leave what is changed afterwards. An attribute that is not reported meets no condition.
/// Bounded: dependencies that go round are followed a few times (`settled`).
class BiosOutcome {
 public:
  /// `registry` must outlive it.
  BiosOutcome(const BiosRegistry& registry, const BiosValues& now, const BiosValues& set);

  /// nullptr: not reported.
  const BiosValue* value(const std::string& attribute) const;
  /// As dependencies make it, else as the registry tells it; nullptr: neither does.
  const BiosValue* property(const std::string& attribute, std::string_view name) const;
  bool is_locked(const std::string& attribute) const;
  /// The same for a BMC that takes only what is writable now: what the registry itself calls
  /// read-only stays so, whatever a dependency makes of it.
  bool is_locked_now(const std::string& attribute) const;

  /// The dependency that makes the property what it is; nullptr: none.
  const BiosDependency* maker_of(const std::string& attribute, std::string_view name) const;
  /// The attributes by whose present values it holds.
  std::vector<std::string> causes_of(const BiosDependency& dependency) const;
  /// The same with their values: "SysProfile is PerfOptimized".
  std::string reason_of(const BiosDependency& dependency) const;
  /// Values of `cause` with which `attribute` could be written.
  std::vector<std::string> values_that_unlock(const std::string& attribute,
                                              const std::string& cause) const;
  bool settled() const { return settled_; }

 private:
  const BiosValue* at(const BiosProperty& property) const;
  bool holds(const BiosCondition& condition) const;
  bool holds(const BiosDependency& dependency) const;
  bool is_triggered(const BiosDependency& dependency) const;
  bool has_changed(const std::string& attribute) const;
  bool step();
  std::vector<const BiosCondition*> conditions_met(const BiosDependency& dependency) const;

  const BiosRegistry& registry_;
  BiosValues now_, values_{};
  std::map<BiosProperty, BiosValue> properties_;
  std::map<BiosProperty, const BiosDependency*> makers_{};
  bool settled_ = false;
};

/// The registry, where an attribute that a dependency makes read-only with the values that are
/// current or wait is not read-only for itself. An iDRAC's registry tells both in one word.
BiosRegistry without_conditional_locks(BiosRegistry registry, const BiosSettings& settings);

/// "true" and true.
bool is_true(const BiosValue* value);

}  // namespace cupel::bmc

#pragma once
// The BIOS settings of one machine: what is, what the next boot makes of it, and which values there
// may be. No HTTP here.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "rehearsal/bmc/vendor_behavior.h"

namespace cupel::rehearsal {

/// One row of the attribute registry.
struct BiosAttribute {
  enum class Type { choice, integer, text, flag } type = Type::choice;
  std::string_view name;
  json::value usual;
  std::vector<std::string_view> choices{};
  std::int64_t least = 0, most = 0;  // of an integer; the length of a text
  bool read_only = false;
  /// Read-only unless another attribute has this value; each of its other values sets this one.
  struct Dependency {
    std::string_view attribute, value;
    struct Setting {
      std::string_view with, becomes;
    };
    std::vector<Setting> settings{};
  };
  std::optional<Dependency> depends{};
};

/// All of a machine of this vendor (bios_attributes.cpp).
const std::vector<BiosAttribute>& bios_attributes(std::string_view vendor);

class Bios {
 public:
  explicit Bios(std::string_view vendor);

  const json::object& current() const { return current_; }
  const json::object& pending() const { return pending_; }

  /// What is wrong with the value of that name beside what else is requested; empty: nothing.
  std::string complaint(std::string_view name, const json::value& value,
                        const json::object& requested = {}) const;
  /// By the values that are current.
  bool is_read_only(const BiosAttribute& attribute) const;
  const std::vector<BiosAttribute>& attributes() const { return *rows_; }
  void stage(const json::object& attributes);
  void forget() {
    pending_.clear();
    resets_ = false;
  }
  /// The next boot makes all of it what it was when it left its maker.
  void reset() { resets_ = true; }
  /// The machine has booted: what reset() has asked for.
  void boot_reset();
  /// It has that value now, as text, whoever set it. Nothing where there is no such attribute.
  void spoil(std::string_view name, std::string_view value);
  /// The machine has booted. What depends on an attribute that this changes becomes what that sets.
  void apply();

 private:
  const std::vector<BiosAttribute>* rows_;
  json::object current_, pending_;
  bool resets_ = false;
};

}  // namespace cupel::rehearsal

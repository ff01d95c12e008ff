#pragma once
// In which order a machine tries what it can boot from, and whether it asks for signatures: what
// is, and what the next boot makes of it. No HTTP here.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::rehearsal {

/// One of UEFI's boot options. Source: UEFI 2.10, 3.1.3 and 10.6 (device paths as texts).
struct UefiOption {
  std::string_view reference, name, path, alias;
};

/// Those of every virtual machine, in the order in which they leave the factory.
const std::vector<UefiOption>& uefi_options();

class FirmwareState {
 public:
  FirmwareState();

  const std::vector<std::string>& order() const { return order_; }
  const std::vector<std::string>& next_order() const { return next_order_ ? *next_order_ : order_; }
  /// False where that is not each option once.
  bool stage_order(std::vector<std::string> order);
  bool secure_boot() const { return secure_boot_; }
  bool next_secure_boot() const { return next_secure_boot_.value_or(secure_boot_); }
  void stage_secure_boot(bool on) { next_secure_boot_ = on; }
  /// The machine has booted.
  void apply();
  void forget();

 private:
  std::vector<std::string> order_{};
  std::optional<std::vector<std::string>> next_order_{};
  bool secure_boot_ = false;
  std::optional<bool> next_secure_boot_{};
};

}  // namespace cupel::rehearsal

#include "rehearsal/bmc/boot_options.h"

#include <algorithm>

namespace cupel::rehearsal {

const std::vector<UefiOption>& uefi_options() {
  static const std::vector<UefiOption> all{
      {"Boot0001", "UEFI: PXE IPv4 Intel(R) Ethernet Controller X550",
       "PciRoot(0x0)/Pci(0x10,0x0)/Pci(0x0,0x0)/MAC(5CFF35000001,0x1)/IPv4(0.0.0.0)", "Pxe"},
      {"Boot0002", "ubuntu",
       "HD(1,GPT,7909D246-B31F-4CB2-B81E-937208DDD5B7,0x800,0x100000)/"
       "\\EFI\\ubuntu\\shimx64.efi",
       "Hdd"},
      {"Boot0003", "UEFI: HTTP IPv4 Intel(R) Ethernet Controller X550",
       "PciRoot(0x0)/Pci(0x10,0x0)/Pci(0x0,0x0)/MAC(5CFF35000001,0x1)/IPv4(0.0.0.0)/Uri()",
       "UefiHttp"},
      {"Boot0004", "UEFI Shell",
       "Fv(9AEF2E52-DEAD-4F63-B895-3A504A3E63C4)/FvFile(7C04A583-9E3E-4F1C-AD65-E05268D0B4D1)",
       ""}};
  return all;
}

FirmwareState::FirmwareState() {
  for (const auto& option : uefi_options()) order_.emplace_back(option.reference);
}

bool FirmwareState::stage_order(std::vector<std::string> order) {
  if (!std::ranges::is_permutation(order, order_)) return false;
  next_order_ = std::move(order);
  return true;
}

void FirmwareState::apply() {
  order_ = next_order();
  secure_boot_ = next_secure_boot();
  forget();
}

void FirmwareState::forget() {
  next_order_.reset();
  next_secure_boot_.reset();
}

}  // namespace cupel::rehearsal

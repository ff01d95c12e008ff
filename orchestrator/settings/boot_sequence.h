#pragma once
// A machine's boot options in the order that a profile wants. Pure.
#include <string_view>

#include "bmc/setting_answers.h"

namespace cupel::settings {

/// One of inventory::boot_kinds(), by its device path, else its alias, else its name; empty: none
/// of them. Source: UEFI 2.10, 10.6.
std::string_view kind_of(const bmc::BootOption& option);

/// `order` with options of the first kind first, and so on; among themselves, and behind all of
/// these, they keep the order that they have.
std::vector<std::string> in_order(const std::vector<std::string>& order,
                                  const std::vector<bmc::BootOption>& options,
                                  const std::vector<std::string>& kinds);

/// "pxe, disk, other": the kinds as they follow each other.
std::string kinds_in(const std::vector<std::string>& order,
                     const std::vector<bmc::BootOption>& options);

/// How many network options the firmware tries before the first disk; 0 where no disk is known.
std::size_t network_before_disk(const std::vector<std::string>& order,
                                const std::vector<bmc::BootOption>& options);

}  // namespace cupel::settings

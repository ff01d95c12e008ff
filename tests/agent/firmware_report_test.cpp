// Reports of the firmware in the kernel's log: several lines that are one message.
#include <gmock/gmock.h>

#include "burnin/agent/node/kernel_messages.h"

namespace cupel::agent {
namespace {

using enum MessageKind;

/// Of records as the kernel numbers them.
std::vector<KernelMessage> read(const std::vector<std::string>& texts) {
  MessageReader reader;
  std::vector<KernelMessage> all;
  for (const auto& text : texts)
    for (auto& each : reader.read({.text = text})) all.push_back(std::move(each));
  if (auto last = reader.rest()) all.push_back(*std::move(last));
  return all;
}

/// As ghes.c and cper.c of Linux word them, on a server whose firmware has memory errors first.
TEST(FirmwareReports, NameTheDimmAndTheAddressThatLaterLinesReport) {
  const auto found = read({
      "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4",
      "{1}[Hardware Error]: event severity: recoverable",
      "{1}[Hardware Error]:  Error 0, type: recoverable",
      "{1}[Hardware Error]:   section_type: memory error",
      "nvme nvme3: I/O 12 QID 4 timeout, aborting",
      "{1}[Hardware Error]:   physical_address: 0x0000003f2a1c0040",
      "{1}[Hardware Error]:   error_type: 3, multi-bit ECC",
      "{1}[Hardware Error]:   DIMM location: P0 CHANNEL A DIMM 0",
      "{2}[Hardware Error]: event severity: corrected",
      "{2}[Hardware Error]:   section_type: PCIe error",
      "{2}[Hardware Error]:   device_id: 0000:1b:00.0",
      "mce: [Hardware Error]: CPU 5: Machine Check Exception: 5 Bank 7: be00000000800400",
  });

  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].kind, nvme);
  EXPECT_EQ(found[1], (KernelMessage{.kind = edac,
                                     .weight = Weight::error,
                                     .part = "dimm P0 CHANNEL A DIMM 0",
                                     .detail = "firmware reported severity recoverable, memory "
                                               "error, 3, multi-bit ECC, physical address "
                                               "0x0000003f2a1c0040, DIMM P0 CHANNEL A DIMM 0"}));
  EXPECT_EQ(found[2].kind, aer);
  EXPECT_EQ(found[2].weight, Weight::corrected);
  EXPECT_EQ(found[2].pci, "0000:1b:00.0");
  EXPECT_EQ(found[3].kind, mce);
  EXPECT_EQ(found[3].part, "CPU5");
}

TEST(FirmwareReports, WithoutASectionAreMachineChecks) {
  const auto found = read({"{9}[Hardware Error]: event severity: fatal"});

  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].kind, mce);
  EXPECT_EQ(found[0].weight, Weight::error);
}

}  // namespace
}  // namespace cupel::agent

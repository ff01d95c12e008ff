// What is read of every capture of nvidia-smi's XML, its NVLinks, the kernel's log and perftest.
// Those of users' tools: tools_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/gpu/nvlink.h"
#include "burnin/tools/perftest.h"
#include "tests/burnin/sample_files.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using Table = std::map<std::string, std::string>;  // by file: what is read of it

/// Every file of the folder as `read` tells it.
Table reported(const std::string& folder, std::string (*read)(const std::string& text)) {
  Table table;
  for (const auto& file : sample_files(folder)) table[file] = read(*testing::sample(file));
  return table;
}

std::string measured(const Findings& findings, std::string_view name) {
  std::string text;
  for (const auto& each : findings.measurements)
    if (each.name == name) text += fmt::format("{}{}", text.empty() ? "" : ", ", plain(each.value));
  return text.empty() ? "-" : text;
}

std::string gpus_of(const std::string& text) {
  const auto found = parsed("gpu-facts", text);
  if (!found) return std::string{found.error().what};
  const auto& findings = *found;
  return fmt::format("{} of {} GiB, gen {}, MIG {}, ECC {}: {}, remap {}, limit {} W",
                     measured(findings, "gpu.count"), measured(findings, "gpu.memory.total"),
                     measured(findings, "gpu.pcie.gen_max"), measured(findings, "gpu.mig"),
                     measured(findings, "gpu.ecc.mode"), measured(findings, "gpu.ecc.uncorrected"),
                     measured(findings, "gpu.remap.pending"),
                     measured(findings, "gpu.power.limit"));
}

std::string links_of(const std::string& text) {
  const auto at = text.find("GPU-");
  const auto uuid = text.substr(at, text.find(')', at) - at);
  Findings findings;
  add_nvlinks(text, std::vector<KnownGpu>{{"gpu0", uuid, "00000000:1B:00.0"}}, findings);
  return measured(findings, "nvlink.active") +
         (findings.unknown.empty() ? "" : ", " + findings.unknown.front().why);
}

std::string xids_of(const std::string& text) {
  Findings findings;
  add_xids("cupel-kernel-log: told\n" + text, {}, {}, findings);
  std::string all;
  for (const auto& each : findings.measurements)
    all +=
        fmt::format("{}{}: {}", all.empty() ? "" : ", ",
                    each.part.substr(each.part.starts_with("gpu at ") ? 7 : 0), plain(each.value));
  return all;
}

std::string rows_of(const std::string& text) {
  const auto rows = read_perftest(text);
  if (!rows) return std::string{rows.error().what};
  const auto& last = rows->back();
  return fmt::format("{} rows, {} bytes at {} Gb/s", rows->size(), plain(last.bytes),
                     plain(last.average.value_or(-1)));
}

#define CUPEL_NEEDS_SAMPLES(folder) \
  CUPEL_NEEDS_REAL_PART(!sample_files(folder).empty(), "no samples in " << testing::samples())

TEST(Samples, OfNvidiaSmisXmlTellTheirGpus) {
  CUPEL_NEEDS_SAMPLES("nvidia-smi-xml");

  EXPECT_EQ(reported("nvidia-smi-xml", gpus_of),
            (Table{{"nvidia-smi-xml/a100-sxm4-v12.xml",
                    "1 of 80 GiB, gen 4, MIG 1, ECC 1: 0, remap -, limit 500 W"},
                   {"nvidia-smi-xml/a10g.xml",
                    "1 of 22.488 GiB, gen 4, MIG -, ECC 1: 0, remap 0, limit 300 W"},
                   {"nvidia-smi-xml/rtx-3080-v13.xml",
                    "1 of 10 GiB, gen 4, MIG -, ECC -: -, remap -, limit 320 W"}}));
}

TEST(Samples, OfNvlinksTellHowManyAreActive) {
  CUPEL_NEEDS_SAMPLES("nvidia-smi-nvlink");
  const std::string cut = "-, Nvlink queries are not supported for Devices in MIG mode";

  EXPECT_EQ(reported("nvidia-smi-nvlink", links_of),
            (Table{{"nvidia-smi-nvlink/a100_nvlink_s_ALL_INACTIVE.txt", "0"},
                   {"nvidia-smi-nvlink/a100_nvlink_s_good.txt", "12"},
                   {"nvidia-smi-nvlink/h100-80gb-hbm3_nvlink_s.txt", "18"},
                   {"nvidia-smi-nvlink/h100-mig_nvlink_s.txt", cut},
                   {"nvidia-smi-nvlink/h200-mig_nvlink_s.txt", cut},
                   {"nvidia-smi-nvlink/h200_nvlink_s.txt", "18"},
                   {"nvidia-smi-nvlink/l40s_nvlink_s.txt", "-"}}));
}

TEST(Samples, OfTheKernelsLogTellSeriousXids) {
  CUPEL_NEEDS_SAMPLES("dmesg");

  // Of each place the first that asks for more than another start of the program, or is on no list.
  EXPECT_EQ(reported("dmesg", xids_of),
            (Table{{"dmesg/kmsg_1.log", ""},
                   {"dmesg/kmsg_2_peermem.log", ""},
                   {"dmesg/oom_and_misc.dmesg.log", ""},
                   {"dmesg/pstore_erst.txt", ""},
                   {"dmesg/xid119_gsp_timeout_xe9680.log", "0000:9b:00.0: 119"},
                   {"dmesg/xid79_sxid20034_h100.log",
                    "0000:91:00.0: 79, nvswitch0: 20034, nvswitch1: 20034, nvswitch2: 20034"},
                   {"dmesg/xid_lines_from_gpud_tests.txt",
                    "0000:00:00.0: 149, 0000:01:00.0: 79, 0000:02:00.0: 64, 0000:03:00.0: 14, "
                    "0000:04:00.0: 145, 0000:05:00.0: 79, 0008:01:00.0: 149, 0008:06:00.0: 145, "
                    "0009:01:00.0: 149, 0018:01:00.0: 149, 0019:01:00.0: 149"}}));
}

TEST(Samples, OfPerftestTellTheirRows) {
  CUPEL_NEEDS_SAMPLES("perftest");

  EXPECT_EQ(
      reported("perftest", rows_of),
      (Table{
          {"perftest/ib_write_bw_loopback_all_sizes.log", "23 rows, 8388608 bytes at 194.957 Gb/s"},
          {"perftest/ib_write_bw_loopback_hdr_8M.log", "1 rows, 8388608 bytes at 201.802 Gb/s"}}));
}

}  // namespace
}  // namespace cupel::burnin

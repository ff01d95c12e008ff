// Every parser against what a broken wire, a full disk or a liar makes of good output.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "burnin/measures/measure.h"
#include "tests/burnin/drive_texts.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/host_texts.h"
#include "tests/burnin/node_lines.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {

constexpr int kRounds = 2000;

class Damage {
 public:
  Damage(std::string text, unsigned seed) : good_{std::move(text)}, random_{seed} {}

  std::string next() {
    auto text = good_;
    for (int i = 0, many = pick(4); i <= many; ++i) damage(text);
    return text;
  }

 private:
  int pick(std::size_t below) {
    return static_cast<int>(random_() % std::max<std::size_t>(below, 1));
  }
  std::size_t place(const std::string& text) { return random_() % (text.size() + 1); }

  void damage(std::string& text) {
    const auto at = place(text);
    switch (pick(6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, random_() % 64);
        break;
      case 2:
        text.insert(at, text.substr(place(text), random_() % 256));
        break;
      case 3:
        text.insert(at, word());
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      default:
        text.insert(at, std::string(random_() % 300, static_cast<char>(random_())));
    }
  }

  std::string word() {
    static const std::vector<std::string> kWords{"nan",
                                                 "-nan",
                                                 "inf",
                                                 "-1",
                                                 "1e999",
                                                 "1e308",
                                                 "99999999999999999999",
                                                 "N/A",
                                                 "\0",
                                                 "<",
                                                 "{",
                                                 "}",
                                                 "\n",
                                                 "\"",
                                                 "[[[[",
                                                 "</gpu>",
                                                 "<gpu id=\"\">",
                                                 "\xff\xfe",
                                                 ":",
                                                 "0x10"};
    return kWords[random_() % kWords.size()];
  }

  std::string good_;
  std::mt19937_64 random_;
};

bool is_printable_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

void expect_sound(const Findings& findings, std::string_view stage_name) {
  const auto& known = stage(stage_name)->measures;
  for (const auto& each : findings.measurements) {
    ASSERT_TRUE(std::isfinite(each.value)) << each.name;
    // A family's names, "first.kernel.xid.79", are in the table by its pattern.
    const auto* row = measure_row(each.name);
    const auto names = {std::string_view{each.name},
                        row == nullptr ? std::string_view{} : row->name};
    ASSERT_TRUE(std::ranges::find_first_of(known, names) != known.end()) << each.name;
    ASSERT_TRUE(is_printable_ascii(each.part)) << each.name;
  }
  for (const auto& part : findings.parts)
    for (const auto* text : {&part.name, &part.model, &part.serial, &part.firmware, &part.slot})
      ASSERT_TRUE(is_printable_ascii(*text)) << part.name;
  for (const auto& unknown : findings.unknown)
    ASSERT_TRUE(is_printable_ascii(unknown.fact + unknown.why)) << unknown.fact;
  ASSERT_LT(findings.parts.size(), 2000);
}

void survive(std::string_view name, const std::string& good) {
  Damage damage{good, 42};
  for (int round = 0; round < kRounds; ++round) {
    const auto text = damage.next();
    const auto found = stage(name)->parse(profile(), {text, "", round % 3});
    if (found) {
      expect_sound(*found, name);
    } else {
      const auto code = found.error().code;
      ASSERT_TRUE(code == Code::kNoMeasurement || code == Code::kMalformed);
      ASSERT_TRUE(is_printable_ascii(found.error().what)) << found.error().what;
    }
    if (::testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "round " << round << " of " << name;
      return;
    }
  }
}

/// Cut anywhere, nothing is reported that the whole did not report.
void survive_every_cut(std::string_view name, const std::string& good) {
  const auto whole = *parsed(name, good);
  const auto step = std::max<std::size_t>(1, good.size() / kRounds);
  for (std::size_t end = 0; end < good.size(); end += step) {
    const auto found = parsed(name, good.substr(0, end));
    if (!found) continue;
    for (const auto& each : found->measurements)
      ASSERT_TRUE(std::ranges::find(whole.measurements, each) != whole.measurements.end())
          << each.name << " of " << each.part << " is " << each.value << ", cut at " << end;
  }
}

TEST(Damaged, NodeFactsInventNothing) {
  survive("node-facts", std::string{kNodeText});
  survive_every_cut("node-facts", std::string{kNodeText});
}

TEST(Damaged, ReportsOfCupelNodeInventNothing) {
  survive("facts", std::string{kFactsLine});
  survive_every_cut("facts", std::string{kFactsLine});
  survive("watch", std::string{kWatchLines});
  survive_every_cut("watch", std::string{kWatchLines});
}

TEST(Damaged, GpuFactsInventNothing) {
  for (const auto* path : {"nvidia-smi-xml/a100-sxm4-v12.xml", "nvidia-smi-xml/a10g.xml",
                           "nvidia-smi-xml/rtx-3080-v13.xml"}) {
    CUPEL_NEEDS_SAMPLE(text, path);
    survive("gpu-facts", text);
    survive_every_cut("gpu-facts", text);
  }
}

TEST(Damaged, CpuMemoryInventsNothing) {
  const std::string good =
      "cupel-asked-seconds: 2\noom_kill 3\n"
      "stress-ng: metrc: [13290] stressor       bogo ops real time  usr time\n"
      "stress-ng: metrc: [13290] cpu                3372      2.00      1.96\n"
      "stress-ng: metrc: [13290] vm               158384      2.00      1.49\n"
      "stress-ng: info:  [13290] successful run completed in 2.00s\noom_kill 3\n";
  survive("cpu-memory", good);
  survive_every_cut("cpu-memory", good);
}

TEST(Damaged, DiskInventsNothing) {
  CUPEL_NEEDS_SAMPLE(capture, "fio/fio_randrw_nvme.json");
  // The captured job, in the three roles that the stage asks for.
  const auto begin = capture.find("    {\n      \"jobname\"");
  const auto end = capture.rfind("  ],\n  \"disk_util\"");
  ASSERT_TRUE(begin != capture.npos && end != capture.npos && begin < end);
  const auto job = capture.substr(begin, end - begin);
  std::string good =
      "cupel-asked-bytes: 16777216\ncupel-asked-seconds: 1\ncupel-direct: 1\nfio: warning\n";
  good += capture.substr(0, begin);
  good += replaced(job, "rand_read_write", "write") + ",\n";
  good += replaced(job, "rand_read_write", "verify") + ",\n";
  good += replaced(job, "rand_read_write", "read") + capture.substr(end);
  ASSERT_TRUE(parsed("disk", good)) << parsed("disk", good).error().what;
  const auto agent = agent_text("disk", asked_line("bytes", 16777216) + asked_line("seconds", 1) +
                                            asked_line("direct", 1) + evidence_line("fio", good));
  for (const auto& text : {good, agent}) {
    survive("disk", text);
    survive_every_cut("disk", text);
  }
}

TEST(Damaged, UsersToolsInventNothing) {
  CUPEL_NEEDS_SAMPLE(burnt, "gpu-burn/a100_8gpu_ok.log");
  CUPEL_NEEDS_SAMPLE(old, "nccl-tests/a100_1node_allreduce.log");
  CUPEL_NEEDS_SAMPLE(diagnosis, "dcgmi-diag/gcm_diag_fail_output_rc0.json");
  CUPEL_NEEDS_SAMPLE(copies, "nvbandwidth/dcgm_verboseFullOutput.json");
  CUPEL_NEEDS_SAMPLE(table, "nvbandwidth/readme_a100_0.txt");
  // The end of a long run is enough: each damage is to something that counts.
  survive("gpu-burn", burn_asked() + burnt.substr(burnt.size() - 9000));
  for (const auto& [name, good] : {std::pair{"nccl-tests", nccl_asked() + old},
                                   {"dcgm-diag", diagnosis},
                                   {"nvbandwidth", copies},
                                   {"nvbandwidth", table}}) {
    survive(name, good);
    survive_every_cut(name, good);
  }
}

TEST(Damaged, TheHostsPartsInventNothing) {
  for (const auto& [name, good] :
       std::vector<std::pair<std::string, std::string>>{{"cpu", cpu_text()},
                                                        {"memory", memory_text()},
                                                        {"nvme", nvme_text("0")},
                                                        {"nvme", nvme_agent_text("0")},
                                                        {"storage", storage_text()},
                                                        {"storage", storage_agent_text()},
                                                        {"thermal", thermal_text()}}) {
    const auto whole = parsed(name, good);
    ASSERT_TRUE(whole) << name << ": " << whole.error().what;
    survive(name, good);
    survive_every_cut(name, good);
  }
}

}  // namespace
}  // namespace cupel::burnin

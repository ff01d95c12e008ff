// Outputs that pass, spoilt in every way that terminals, locales, dying tools and dying GPUs have.
// Whatever is done to one, it must not pass by anything but what the whole of it reported: what
// cannot be read is missing, and what is missing is no pass.
#include <gmock/gmock.h>

#include <functional>

#include "tests/burnin/burn_said.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/tools.h"

namespace cupel::burnin {
namespace {
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Good {
  std::string stage, of, text;
};

Result<Findings> read(const Good& good, const std::string& text) {
  return stage(good.stage)->parse(profile(good.of), {text, "", 0});
}

std::vector<Checked> judged(const Good& good, const std::string& text) {
  const auto found = read(good, text);
  if (!found) return {};
  return judge(profile(good.of), {good.stage}, {{good.stage, *found}});
}

bool passes(const std::vector<Checked>& comparisons) {
  const auto met = [](const Checked& each) { return each.met == Met::met; };
  return !comparisons.empty() && std::ranges::all_of(comparisons, met);
}

std::string table(const std::string& capture, std::string_view of, const char* name) {
  return replaced(capture, of, name);
}

/// nvbandwidth 0.4's own tables, as the four tests that are asked for.
std::string bandwidth_text(const std::string& pairs, const std::string& host) {
  const auto between = pairs.substr(8, pairs.find('\n') - 8),
             from = host.substr(8, host.find('\n') - 8);
  return table(host, from, "host_to_device_memcpy_ce.") + "\n" +
         table(host, from, "device_to_host_memcpy_ce.") + "\n" +
         table(pairs, between, "device_to_device_memcpy_write_ce.") + "\n" +
         table(pairs, between, "device_to_device_memcpy_read_ce.") + "\n";
}

/// And as 0.5 to 0.8 write them, for so many H100s.
std::string bandwidth_json(int gpus) {
  const auto row = [&](int own, const char* rate) {
    std::string cells;
    for (int i = 0; i < gpus; ++i)
      cells += fmt::format("{}\"{}\"", i == 0 ? "" : ",\n", i == own ? "N/A" : rate);
    return "[" + cells + "]";
  };
  std::string pairs, tests;
  for (int i = 0; i < gpus; ++i) pairs += (i == 0 ? "" : ",\n") + row(i, "391.25");
  for (const auto* way : {"host_to_device", "device_to_host"})
    tests += fmt::format(
        "{{\"name\":\"{}_memcpy_ce\",\n\"status\":\"Passed\",\n\"bandwidth_matrix\":[{}]}},\n", way,
        row(-1, "55.41"));
  for (const auto* way : {"write", "read"})
    tests += fmt::format(
        "{{\"name\":\"device_to_device_memcpy_{}_ce\",\n\"status\":\"Passed\",\n"
        "\"bandwidth_matrix\":[{}]}}{}\n",
        way, pairs, way[0] == 'w' ? "," : "");
  return "{\"nvbandwidth\":{\n\"version\":\"v0.8\",\n\"testcases\":[\n" + tests + "]}}\n";
}

/// dcgmi diag -r 2 of eight GPUs, as DCGM 4 or as DCGM 3 writes it.
std::string diagnosis(bool four, int gpus = 8) {
  std::string tests;
  for (const auto* name : {"memory", "pcie"}) {
    std::string results;
    for (int i = 0; i < gpus; ++i)
      results += fmt::format("{}{{{}\n\"status\":\"Pass\"}}", i == 0 ? "" : ",\n",
                             four ? fmt::format("\"entity_group\":\"GPU\",\"entity_id\":{},", i)
                                  : fmt::format("\"gpu_id\":\"{}\",", i));
    tests += fmt::format("{}{{\"name\":\"{}\",\n\"results\":[\n{}]}}", tests.empty() ? "" : ",\n",
                         name, results);
  }
  return fmt::format("{{\"DCGM {}\":{{\n\"test_categories\":[{{\"tests\":[\n{}]}}]}}}}\n",
                     four ? "Diagnostic" : "GPU Diagnostic", tests);
}

std::string p2p_text() {
  BurnText burn;
  burn.command = "p2p";
  burn.lines = pairs([](int, int) { return 394.5; });
  return burn.text();
}

/// Without what is long and never read.
std::string shortened_xml(std::string xml) {
  for (const auto* name : {"supported_clocks", "processes", "accounted_processes"}) {
    const auto open = fmt::format("<{}>", name);
    const auto begin = xml.find(open), end = xml.find(fmt::format("</{}>", name));
    if (begin != xml.npos && end != xml.npos)
      xml.erase(begin + open.size(), end - begin - open.size());
  }
  return xml;
}

std::vector<Good> good_outputs() {
  const auto xml = testing::sample("nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto pairs = testing::sample("nvbandwidth/readme_a100_0.txt");
  const auto host = testing::sample("nvbandwidth/readme_a100_1.txt");
  const auto sums = testing::sample("nccl-tests/gcm_sample_single_success_output.txt");
  const auto burnt = testing::sample("gpu-burn/a100_8gpu_ok.log");
  if (!xml || !pairs || !host || !sums || !burnt) return {};
  const auto facts = eight(shortened_xml(*xml));
  // What the kernel said comes last, and is not judged where it was not read.
  const auto links = facts.rfind("cupel-kernel-log");
  return {
      {"gpu-facts", "a100-8", facts.substr(0, links)},
      {"nvbandwidth", "a100-8", bandwidth_text(*pairs, *host)},
      {"nvbandwidth", "dgx-h100", bandwidth_json(8)},
      {"nccl-tests", "a100-8", nccl_asked("1073741824") + sums->substr(0, sums->find("# Avg bus"))},
      {"nccl-tests", "dgx-h100", nccl_asked() + nccl_json("471.25", "0")},
      {"gpu-burn", "a100-8", burn_asked("double") + replaced(*burnt, "\r", "\n")},
      {"dcgm-diag", "dgx-h100", diagnosis(true)},
      {"dcgm-diag", "dgx-h100", diagnosis(false)},
      {"gemm", "dgx-h100", good().text()},
      {"p2p", "dgx-h100", p2p_text()}};
}

/// Runs `test` on every good output. What is tested passes before it is spoilt.
void of_every_good_output(
    const std::function<void(const Good&, const std::vector<Checked>& whole)>& test) {
  const auto all = good_outputs();
  CUPEL_NEEDS_REAL_PART(!all.empty(), "no samples in " << testing::samples());
  for (const auto& good : all) {
    const auto whole = judged(good, good.text);
    ASSERT_TRUE(passes(whole)) << good.stage << ": " << refusal(read(good, good.text))
                               << ::testing::PrintToString(
                                      read(good, good.text)
                                          ? not_met(good.stage, *read(good, good.text), good.of)
                                          : std::vector<std::string>{});
    test(good, whole);
  }
}

/// If what became of it passes, it passes by the numbers of the whole.
void expect_no_new_pass(const Good& good, const std::vector<Checked>& whole,
                        const std::string& text, const std::string& how) {
  const auto now = judged(good, text);
  if (!passes(now)) return;
  EXPECT_TRUE(now == whole) << good.stage << " of " << good.of << " passes though " << how;
}

/// Where things can be done to a text: spread over all of it, less often to what takes long to
/// read.
template <class Each>
void spread(const Good& good, std::size_t count, const Each& each) {
  const auto most = std::clamp<std::size_t>(250'000 / good.text.size(), 12, 60);
  const auto step = std::max<std::size_t>(1, count / most);
  for (std::size_t i = 0; i < count; i += step) each(i);
}

std::vector<std::size_t> ends_of_lines(const std::string& text) {
  std::vector<std::size_t> ends;
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    ends.push_back(at + 1);
  return ends;
}

/// Places of numbers, and how long they are.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto end = std::min(text.find_first_not_of("0123456789.", i), text.size());
    if (end == i) continue;
    found.emplace_back(i, end - i);
    i = end;
  }
  return found;
}

TEST(Adversary, NothingPassesThatWasCutAtAnyLine) {
  of_every_good_output([](const Good& good, const std::vector<Checked>& whole) {
    const auto ends = ends_of_lines(good.text);
    const auto cut = [&](std::size_t i) {
      expect_no_new_pass(good, whole, good.text.substr(0, ends[i]),
                         fmt::format("it was cut after line {}", i + 1));
    };
    spread(good, ends.size(), cut);
    // And its end line by line: there most is there already.
    for (std::size_t i = ends.size() - std::min<std::size_t>(ends.size(), 20); i < ends.size(); ++i)
      cut(i);
  });
}

TEST(Adversary, NothingPassesWhoseNumbersHaveCommas) {
  of_every_good_output([](const Good& good, const std::vector<Checked>& whole) {
    auto text = good.text;
    for (std::size_t i = 1; i + 1 < text.size(); ++i)
      if (text[i] == '.' && std::isdigit(text[i - 1]) && std::isdigit(text[i + 1])) text[i] = ',';
    expect_no_new_pass(good, whole, text, "its numbers have commas");
  });
}

TEST(Adversary, LinesMayEndAsWindowsEndsThem) {
  of_every_good_output([](const Good& good, const std::vector<Checked>& whole) {
    EXPECT_EQ(judged(good, replaced(good.text, "\n", "\r\n")), whole) << good.stage;
  });
}

TEST(Adversary, NothingPassesForColours) {
  of_every_good_output([](const Good& good, const std::vector<Checked>& whole) {
    std::string text;
    for (const auto line : lines(good.text)) text += "\x1b[4m" + std::string{line} + "\x1b[0m\n";
    expect_no_new_pass(good, whole, text, "each line is underlined");
    const auto numbers = numbers_in(good.text);
    spread(good, numbers.size(), [&](std::size_t i) {
      auto one = good.text;
      one.insert(numbers[i].first + numbers[i].second, "\x1b[0m");
      one.insert(numbers[i].first, "\x1b[31m");
      expect_no_new_pass(good, whole, one, fmt::format("number {} is red", i));
    });
  });
}

TEST(Adversary, NothingPassesWithANumberThatIsNone) {
  constexpr std::array<std::string_view, 13> kNone{"nan",
                                                   "-nan",
                                                   "inf",
                                                   "-inf",
                                                   "N/A",
                                                   "[Not Supported]",
                                                   "ERR!",
                                                   "",
                                                   "-1",
                                                   "1e999",
                                                   "99999999999999999999999",
                                                   "0x1F4",
                                                   "[Unknown Error]"};
  of_every_good_output([&](const Good& good, const std::vector<Checked>& whole) {
    const auto numbers = numbers_in(good.text);
    std::size_t turn = 0;
    spread(good, numbers.size(), [&](std::size_t i) {
      const auto word = kNone[turn++ % kNone.size()];
      auto text = good.text;
      text.replace(numbers[i].first, numbers[i].second, word);
      expect_no_new_pass(
          good, whole, text,
          fmt::format("number {} at {} is '{}': {}", i, numbers[i].first, word,
                      text.substr(numbers[i].first > 60 ? numbers[i].first - 60 : 0, 120)));
    });
    for (const auto word : kNone) {
      auto text = good.text;
      for (auto at = numbers.rbegin(); at != numbers.rend(); ++at)
        text.replace(at->first, at->second, word);
      expect_no_new_pass(good, whole, text, fmt::format("every number is '{}'", word));
    }
  });
}

TEST(Adversary, NothingPassesForWhatOthersWroteInBetween) {
  const std::string burn = "WARNING: GPU 3: 7 errors\n";
  of_every_good_output([&](const Good& good, const std::vector<Checked>& whole) {
    const auto ends = ends_of_lines(good.text);
    spread(good, ends.size(), [&](std::size_t i) {
      auto text = good.text;
      expect_no_new_pass(good, whole, text.insert(ends[i], burn),
                         fmt::format("somebody spoke after line {}", i + 1));
    });
    spread(good, good.text.size(), [&](std::size_t at) {
      auto text = good.text;
      expect_no_new_pass(good, whole, text.insert(at, burn),
                         fmt::format("somebody spoke at byte {}", at));
    });
  });
}

TEST(Adversary, PassesNothingWhereALineIsMissingOrRepeated) {
  of_every_good_output([](const Good& good, const std::vector<Checked>& whole) {
    const auto ends = ends_of_lines(good.text);
    spread(good, ends.size() - 1, [&](std::size_t i) {
      const auto line = good.text.substr(ends[i], ends[i + 1] - ends[i]);
      auto twice = good.text, without = good.text;
      expect_no_new_pass(good, whole, twice.insert(ends[i], line), "this is told twice: " + line);
      expect_no_new_pass(good, whole, without.erase(ends[i], line.size()), "this is gone: " + line);
    });
  });
}

TEST(Adversary, TakesTheWorseOfTwoReportsOfAGpu) {
  CUPEL_NEEDS_SAMPLE(xml, "nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto text = eight(xml);
  const auto bad = replaced(text.substr(0, text.find("</nvidia_smi_log>") + 17),
                            "<dram_uncorrectable>0", "<dram_uncorrectable>5");
  const Good facts{"gpu-facts", "a100-8", text};

  const auto found = read(facts, text + bad);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.count"), 8);
  EXPECT_THAT(not_met("gpu-facts", *found, "a100-8"),
              Contains("gpu7 gpu.ecc.uncorrected 5 errors, at most 0 errors"));
}

TEST(Adversary, CountsALinkReportedTwiceOnce) {
  CUPEL_NEEDS_SAMPLE(xml, "nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto text = eight(xml);
  const auto begin = text.find("GPU 0: NVIDIA (UUID"), middle = text.find("\t Link 6: ");
  const auto half = text.substr(begin, middle - begin);

  const auto found = read({"gpu-facts", "a100-8", ""}, text.substr(0, middle) + half + half);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "nvlink.active", "gpu0"), 6);
}

TEST(Adversary, TakesTheSlowerOfTwoReportsOfASize) {
  CUPEL_NEEDS_SAMPLE(sums, "nccl-tests/gcm_sample_single_success_output.txt");
  const auto slow = replaced(sums, "231.72", "31.72");

  for (const auto& text : {sums + slow, slow + sums}) {
    const auto found = parsed("nccl-tests", nccl_asked("1073741824") + text);

    ASSERT_TRUE(found) << refusal(found);
    EXPECT_EQ(value_of(*found, "collective.all_reduce.busbw", "nvlinks"), 31.72);
  }
}

TEST(Adversary, SixteenGpusAreReadEachByItself) {
  const auto copies = parsed("nvbandwidth", bandwidth_json(16));
  const auto tests = parsed("dcgm-diag", diagnosis(true, 16));

  ASSERT_TRUE(copies && tests) << refusal(copies) << refusal(tests);
  EXPECT_EQ(value_of(*copies, "pcie.h2d", "gpu15"), 55.41);
  EXPECT_EQ(value_of(*copies, "p2p.bandwidth", "gpu15-gpu0"), 391.25);
  EXPECT_EQ(value_of(*copies, "p2p.refused", "gpu15"), 0);
  EXPECT_EQ(value_of(*tests, "dcgm.passed", "gpu15"), 2);
}

TEST(Adversary, FailsAGpuMissingInTheMiddleUnderItsOwnName) {
  // CUDA sees seven: its number 3 is the machine's fourth place, which is gone.
  std::string places;
  for (std::size_t i = 0, number = 0; i < kBuses.size(); ++i)
    if (i != 3) places += fmt::format("cupel-gpu: {}, 00000000:{}:00.0\n", number++, kBuses.at(i));
  for (const auto& [name, text] :
       {std::pair{"nvbandwidth", bandwidth_json(7)}, {"dcgm-diag", diagnosis(true, 7)}}) {
    const auto found = parsed(name, places + text);

    ASSERT_TRUE(found) << refusal(found);
    for (const auto& missing : not_met(name, *found))
      EXPECT_THAT(missing, ::testing::StartsWith("gpu3 ")) << name;
    EXPECT_FALSE(not_met(name, *found).empty()) << name;
  }
  EXPECT_THAT(missed("gemm", *good({0, 1, 2, 4, 5, 6, 7}).read()),
              HasSubstr("gpu3 gemm.errors nothing"));
}

TEST(Adversary, ACutGpuPassesNothing) {
  CUPEL_NEEDS_SAMPLE(xml, "nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto text = replaced(eight(xml), "<current_mig>Disabled", "<current_mig>Enabled");

  const auto found = read({"gpu-facts", "a100-8", ""}, text);

  ASSERT_TRUE(found);
  EXPECT_THAT(not_met("gpu-facts", *found, "a100-8"), Contains("gpu7 gpu.mig 1, at most 0"));
}

TEST(Adversary, HowFarOffAResultIsIsNoCountOfWrongOnes) {
  CUPEL_NEEDS_SAMPLE(text, "nccl-tests/a100_1node_allreduce.log");
  // Versions with a column "error" round: 2e-07 is no fault, and what is one their footer says.
  const auto off = replaced(text, "    N/A", "  2e-07");
  const auto wrong = replaced(off, "values : 0 OK", "values : 4 FAILED");
  const auto not_given = off.substr(0, off.find("# Out of bounds"));

  const auto well = parsed("nccl-tests", nccl_asked() + off);
  const auto bad = parsed("nccl-tests", nccl_asked() + wrong);
  const auto unknown = parsed("nccl-tests", nccl_asked() + not_given);

  ASSERT_TRUE(well && bad) << refusal(well);
  EXPECT_EQ(value_of(*well, "collective.errors"), 0);
  EXPECT_EQ(value_of(*bad, "collective.errors"), 4);
  EXPECT_THAT(refusal(unknown), HasSubstr("its output is cut off"));
}

TEST(Adversary, NumbersThatNoMachineReachesProveNothing) {
  const auto found = [](double value, const std::string& unit) {
    return Findings{{{"pcie.h2d", "gpu0", value, unit}}, {}, {}};
  };
  const auto of_gpu0 = [](const Findings& findings) {
    for (const auto& each : not_met("nvbandwidth", findings))
      if (each.starts_with("gpu0 pcie.h2d")) return each;
    return std::string{};
  };

  EXPECT_EQ(of_gpu0(found(55, "GB/s")), "");
  // Kilobytes, where gigabytes are meant; and what is left of a counter that ran over.
  EXPECT_EQ(of_gpu0(found(55e6, "GB/s")), "gpu0 pcie.h2d 55000000 GB/s, at least 52 GB/s");
  EXPECT_NE(of_gpu0(found(18446744073709551615.0, "GB/s")), "");
  Findings below{{{"dcgm.failed", "", -1, "tests"}}, {}, {}};
  EXPECT_THAT(not_met("dcgm-diag", below), Contains(" dcgm.failed -1 tests, at most 0 tests"));
}

}  // namespace
}  // namespace cupel::burnin

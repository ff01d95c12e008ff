// nvidia-smi's output against captured ones of driver 590: same fields, same order, same units.
#include <pugixml.hpp>

#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// "        Current" of "        Current      : N/A", below the first GPU and above the second.
Texts labels_of(std::string_view listing) {
  Texts labels;
  bool inside = false;
  for (const auto& line : lines_of(listing)) {
    const bool heading = line.starts_with("GPU 0");
    if (heading && inside) break;
    inside |= heading;
    if (!inside || heading || line.empty()) continue;
    const auto colon = line.find(" : ");
    auto label = line.substr(0, colon == line.npos ? line.find_last_not_of(" :") + 1 : colon);
    label.resize(label.find_last_not_of(' ') + 1);
    labels.push_back(label);
  }
  return labels;
}

TEST(SmiShape, TheListingHasTheFieldsOfAnIdleH100) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi/h100-80gb-hbm3_q_idle.txt");
  Bench bench;

  const auto listing = bench.sh("nvidia-smi -q").out;

  EXPECT_THAT(labels_of(listing), ElementsAreArray(labels_of(capture)));
}

TEST(SmiShape, EveryColonOfTheListingStandsWhereTheDriverPutsIt) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi/h100-80gb-hbm3_q_idle.txt");
  Bench bench;
  const auto column_of = [](std::string_view listing, std::string_view label) {
    for (const auto& line : lines_of(listing))
      if (line.contains(label)) return line.find(" : ");
    return std::string::npos;
  };

  const auto listing = bench.sh("nvidia-smi -q").out;

  for (const auto* label : {"Timestamp", "Product Name", "HW Thermal Slowdown", "GPU T.Limit Temp"})
    EXPECT_EQ(column_of(listing, label), column_of(capture, label)) << label;
}

TEST(SmiShape, AGpuOfANvl72IsInAPartitionOfItsRackAndOneOfADgxInNone) {
  Bench tray{{}, 10000, shipped_profile("gb200-nvl72-tray")}, dgx;
  const auto* const query =
      "nvidia-smi -i 0 --format=csv,noheader --query-gpu=fabric.state,fabric.cliqueId,"
      "fabric.clusterUuid,fabric.health.summary";

  const auto joined = tray.sh(query).out;

  EXPECT_THAT(joined, ::testing::StartsWith("Completed, 32766, "));
  EXPECT_THAT(joined, ::testing::Not(::testing::HasSubstr("00000000-0000")));
  EXPECT_THAT(joined, ::testing::EndsWith(", Healthy\n"));
  EXPECT_EQ(dgx.sh(query).out, "Completed, 0, 00000000-0000-0000-0000-000000000000, N/A\n");
  EXPECT_THAT(tray.sh("cupel-node facts").out, ::testing::HasSubstr("\"clique\":32766"));
}

TEST(SmiShape, AProcessIsListedAsTheDriverListsIt) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi/h100-80gb-hbm3_q_load.txt");
  Bench bench{{{.kind = FaultKind::gpu_busy, .part = "gpu0"}}};
  const auto about_processes = [](const Texts& labels) {
    const auto first = std::ranges::find(labels, "    Processes");
    return Texts(first, std::min(first + 7, labels.end()));
  };

  const auto listing = bench.sh("nvidia-smi -q").out;

  EXPECT_THAT(about_processes(labels_of(listing)),
              ElementsAreArray(about_processes(labels_of(capture))));
}

/// Paths of all elements below the first GPU, each once, in their order.
Texts paths_of(const std::string& text) {
  pugi::xml_document document;
  const auto loaded = document.load_buffer(text.data(), text.size());
  EXPECT_TRUE(loaded) << loaded.description();
  Texts paths;
  const auto walk = [&](const auto& self, const pugi::xml_node& node,
                        const std::string& at) -> void {
    for (const auto& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const auto path = at + "/" + child.name();
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
      self(self, child, path);
    }
  };
  walk(walk, document.child("nvidia_smi_log").child("gpu"), "");
  return paths;
}

TEST(SmiShape, TheXmlHasTheElementsOfItsDtd) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/rtx-3080-v13.xml");
  Bench bench;
  // A card for desks tells limits where a data centre's tells margins, and remaps no rows.
  const auto common = [](Texts paths) {
    std::erase_if(paths, [](const std::string& path) {
      return path.starts_with("/temperature/") || path.starts_with("/remapped_rows/");
    });
    return paths;
  };

  const auto xml = bench.sh("nvidia-smi -q -x").out;

  EXPECT_THAT(common(paths_of(xml)), ElementsAreArray(common(paths_of(capture))));
  EXPECT_THAT(xml, HasSubstr("nvsmi_device_v13.dtd"));
}

TEST(SmiShape, TheTableIsDrawnAsTheDriverDrawsIt) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi/h100-80gb-hbm3_table_idle.txt");
  Bench bench;
  const auto drawn = [](const std::string& text) {
    Texts shapes;
    for (auto line : lines_of(text))
      shapes.push_back(std::regex_replace(line, std::regex{"[0-9A-F.: ]+"}, "~"));
    return shapes;
  };
  const auto lengths = [](const std::string& text, std::size_t count) {
    std::vector<std::size_t> all;
    for (const auto& line : lines_of(text)) all.push_back(line.size());
    all.resize(std::min(all.size(), count));
    return all;
  };

  const auto table = bench.sh("nvidia-smi -i 0").out;

  EXPECT_EQ(lengths(table, 21), lengths(capture, 21)) << table;
  EXPECT_EQ(drawn(table).back(), drawn(capture).back());
  EXPECT_THAT(table, HasSubstr("No running processes found"));
}

/// Names of the fields, without their units.
std::string fields_of(const std::string& header) {
  std::string fields;
  for (const auto field : split(header, ',')) {
    const auto name = trimmed(field);
    fields += (fields.empty() ? "" : ",") + std::string{name.substr(0, name.find(" ["))};
  }
  return fields;
}

TEST(SmiShape, EveryFieldOfAQueryHasTheDriversUnitAndWayOfNotTelling) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi/h100-80gb-hbm3_querygpu_idle.csv");
  const auto header = lines_of(capture)[0], row = lines_of(capture)[1];
  Bench bench;

  const auto answer = bench.sh("nvidia-smi -i 0 --format=csv --query-gpu=" + fields_of(header));

  ASSERT_EQ(answer.status, 0) << answer.out;
  EXPECT_EQ(lines_of(answer.out)[0], header);
  const auto line = lines_of(answer.out)[1];
  const auto reported = split(line, ','), expected = split(row, ','), names = split(header, ',');
  ASSERT_EQ(reported.size(), expected.size());
  const auto unit = [](std::string_view value) {
    return value.find_first_of("0123456789") == 0 && value.contains(' ')
               ? value.substr(value.find(' '))
               : std::string_view{};
  };
  for (std::size_t i = 1; i < reported.size(); ++i) {  // the first is the time
    EXPECT_EQ(unit(trimmed(reported[i])), unit(trimmed(expected[i]))) << names[i];
    EXPECT_EQ(trimmed(reported[i]).starts_with('['), trimmed(expected[i]).starts_with('['))
        << names[i];
  }
}

TEST(SmiShape, LinksAndMonitorsLookLikeTheCaptured) {
  CUPEL_NEEDS_SAMPLE(links, "nvidia-smi-nvlink/h100-80gb-hbm3_nvlink_s.txt");
  CUPEL_NEEDS_SAMPLE(monitor, "nvidia-smi/h100-80gb-hbm3_dmon_idle.txt");
  Bench bench;

  const auto ours = lines_of(bench.sh("nvidia-smi nvlink -s -i 0").out);
  const auto watched = lines_of(bench.sh("nvidia-smi dmon -c 2 -i 0").out);

  const auto theirs = lines_of(links), seen = lines_of(monitor);
  ASSERT_EQ(ours.size(), theirs.size());
  EXPECT_TRUE(std::equal(ours.begin() + 1, ours.end(), theirs.begin() + 1));
  ASSERT_THAT(watched, SizeIs(4));
  EXPECT_EQ(watched[0], seen[0]);
  EXPECT_EQ(watched[1], seen[1]);
  EXPECT_EQ(watched[2].size(), seen[2].size());
}

TEST(SmiShape, AHealthyNodeLeavesNothingUnknown) {
  Bench bench;

  const auto findings = found_by(bench, "gpu-facts");

  ASSERT_TRUE(findings) << findings.error().what;
  EXPECT_EQ(value_of(*findings, "gpu.count"), 8);
  EXPECT_EQ(value_of(*findings, "gpu.remap.pending", "gpu3"), 0);
  EXPECT_EQ(value_of(*findings, "gpu.mig", "gpu3"), 0);
  // Driver 590 says by a word what 535 said by this flag.
  Texts unknown;
  for (const auto& each : findings->unknown)
    if (!each.fact.starts_with("gpu.reset_required")) unknown.push_back(each.fact);
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(SmiShape, OptionsThatItDoesNotKnowAreRefusedInItsOwnWords) {
  Bench bench;

  const auto option = bench.sh("nvidia-smi --frobnicate");
  const auto field = bench.sh("nvidia-smi --query-gpu=nonsense --format=csv");
  const auto nobody = bench.sh("nvidia-smi -i 9 -q");

  EXPECT_EQ(option.out,
            "ERROR: Option --frobnicate is not recognized. Please run 'nvidia-smi -h'.\n");
  EXPECT_NE(option.status, 0);
  EXPECT_THAT(field.out, HasSubstr("Field \"nonsense\" is not a valid field to query."));
  EXPECT_EQ(field.status, 2);
  EXPECT_EQ(nobody.out, "No devices were found\n");
  EXPECT_EQ(nobody.status, 6);
}

}  // namespace
}  // namespace cupel::rehearsal

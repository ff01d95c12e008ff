// What the stages give against what the shipped profiles ask for: names, parts and units must meet.
#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "burnin/verdict_text.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

std::string reported(const std::vector<Checked>& checked) {
  std::string text;
  for (const auto& each : checked)
    if (each.met != Met::met)
      text += each.part + " " + each.measure + " " + measured_text(each) + ", " +
              expectation_text(each) + "\n";
  return text;
}

std::string not_met(const std::string& of, std::string_view name, const Output& output) {
  const auto found = stage(name)->parse(profile(of), output);
  if (!found) return found.error().what;
  return reported(judge(profile(of), {std::string{name}}, {{std::string{name}, *found}}));
}

/// What the node says beside the XML.
std::string with_links(const std::string& text, int links) {
  return text + links_of(text, links) + "cupel-fabricmanager: active\ncupel-kernel-log: told\n";
}

/// As an H100 would say it, as far as the profile asks.
std::string as_h100(std::string text) {
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"<max_link_gen>4", "<max_link_gen>5"},
           {"<current_link_gen>4", "<current_link_gen>5"},
           {"500.00 W", "700.00 W"}})
    text = replaced(text, from, to);
  return text;
}

TEST(Profiles, AreMetByAHealthyNodesGpus) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/a100-sxm4-v12.xml");
  std::vector<std::string> addresses;
  for (const auto* bus : {"07", "0f", "47", "4e", "87", "90", "b7", "bd"})
    addresses.push_back(std::string{bus} + ":00.0");
  const auto text = with_links(with_gpus_at(healthy(capture), addresses), 12);

  EXPECT_EQ(not_met("a100-8", "gpu-facts", {text, "", 0}), "");
}

// A node whose driver counts no replay of any GPU has not shown that its links are well.
TEST(Profiles, AskForTheReplaysOfEveryGpusLink) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/a100-sxm4-v12.xml");
  std::vector<std::string> addresses;
  for (const auto* bus : {"07", "0f", "47", "4e", "87", "90", "b7", "bd"})
    addresses.push_back(std::string{bus} + ":00.0");
  const auto text = with_links(with_gpus_at(healthy(capture), addresses), 12);
  ASSERT_TRUE(text.contains("<replay_counter>0"));

  const auto open = not_met("a100-8", "gpu-facts",
                            {replaced(text, "<replay_counter>0", "<replay_counter>N/A"), "", 0});

  EXPECT_EQ(lines(open).size(), 8u) << open;
  EXPECT_THAT(open, ::testing::HasSubstr("gpu7 gpu.pcie.replays nothing"));
}

TEST(Profiles, FailTheOneGpuThatIsMissing) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto fast = as_h100(healthy(capture));
  const auto node = [&](const std::vector<std::string>& at) {
    return Output{with_links(with_gpus_at(fast, at), 18), "", 0};
  };
  for (const auto& parts : profile().parts) {
    if (parts.kind != inventory::PartKind::gpu) continue;
    auto addresses = parts.pci;
    EXPECT_EQ(not_met("dgx-h100", "gpu-facts", node(addresses)), "");
    addresses.erase(addresses.begin() + 5);

    const auto text = not_met("dgx-h100", "gpu-facts", node(addresses));

    EXPECT_THAT(text, ::testing::HasSubstr(" gpu.count 7 GPUs, exactly 8 GPUs"));
    for (const auto line : lines(text))
      EXPECT_TRUE(line.contains("gpu.count") || line.starts_with("gpu5 ")) << line;
  }
}

TEST(Profiles, AreMetByAHealthyNode) {
  auto text = replaced(std::string{kNodeText}, "ue_count:2", "ue_count:0");
  for (int hca = 1; hca < 8; ++hca)
    for (const auto line : lines(kNodeText))
      if (line.contains("/mlx5_0/"))
        text = replaced(std::string{line}, "mlx5_0", "mlx5_" + std::to_string(hca)) + "\n" + text;

  EXPECT_EQ(not_met("hgx-h100-8", "node-facts", {std::string{kSmart} + text, "", 0}), "");
}

}  // namespace
}  // namespace cupel::burnin

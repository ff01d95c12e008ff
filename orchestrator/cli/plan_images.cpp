#include "orchestrator/cli/plan_images.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "base/text.h"
#include "inventory/boot.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/images/image_store.h"
#include "orchestrator/os/image_forecast.h"
#include "orchestrator/report/summary.h"
#include "playbooks/left_out.h"

namespace cupel::cli {
namespace {

constexpr double kGiga = 1e9;

struct PlannedImage {
  std::size_t nodes = 0;
  std::uint64_t bytes = 0;                      // of one; 0: it is not in the store
  std::size_t without_seed = 0, not_grown = 0;  // nodes whose profile says so
  os::ImageTraffic traffic{};
};

/// What the step says under this key; empty where it leaves it to the profile.
std::string word_of_planned(const playbooks::PlannedStep& step, const std::string& key) {
  const auto found = step.with.find(key);
  return found == step.with.end() || found->second == "profile" ? "" : found->second;
}

/// The image that the step writes on this node; empty: none.
std::string image_of(const playbooks::PlannedStep& step, const inventory::Profile& profile) {
  if (step.kind != playbooks::StepKind::os || playbooks::left_out(step.when)) return {};
  const auto image = word_of_planned(step, "image");
  return image.empty() ? profile.os.image : image;
}

std::filesystem::path folder_of_images(const inventory::BootSite& boot,
                                       const std::filesystem::path& state) {
  return boot.images.empty() ? state / "images" : std::filesystem::path{boot.images};
}

struct Booted {
  std::string ram{};    // empty: nothing is booted
  std::string image{};  // that it writes; empty: it stays up
  bool seeds = false;   // what it writes
  friend auto operator<=>(const Booted&, const Booted&) = default;
};

Booted booted_by(const playbooks::PlannedStep& step, const inventory::Profile& profile) {
  const bool stays = step.kind == playbooks::StepKind::boot_ram && !playbooks::left_out(step.when);
  auto image = image_of(step, profile);
  if (!stays && image.empty()) return {};
  const auto ram = word_of_planned(step, "ram");
  return {ram.empty() ? profile.os.ram : ram, std::move(image), profile.os.seed};
}

/// Why RAM systems of these would not obey the boot server, and why what they write cannot have a
/// seed. An installer is booted without one.
/// What is not in the store is reported when it is booted.
std::vector<std::string> rejected(const std::set<Booted>& booted, const inventory::BootSite& boot,
                                  const std::filesystem::path& state) {
  std::set<std::string> all;
  const auto store = images::ImageStore::open(folder_of_images(boot, state));
  if (!store) return {};
  const images::BootServerPlace server{boot.host, !boot.certificate.empty()};
  for (const auto& [ram, name, seeds] : booted) {
    const auto image = store->find(name);
    if (image && image->manifest.kind == images::ImageKind::installer) continue;
    if (image && seeds)
      if (auto why = images::why_not_seeded(name, image->manifest.no_seed); !why.empty())
        all.insert(std::move(why));
    const auto system = store->find(ram);
    if (!system) continue;
    if (auto why = images::why_not_obeyed(system->manifest, server); !why.empty())
      all.insert(std::move(why));
  }
  return {all.begin(), all.end()};
}

std::uint64_t size_of_image(const std::filesystem::path& folder, const std::string& name) {
  const auto store = images::ImageStore::open(folder);
  if (!store) return 0;
  const auto image = store->find(name);
  if (!image) return 0;
  const bool is_disk = image->manifest.kind == images::ImageKind::disk;
  const auto* fetched = image->find(is_disk ? images::kDiskFile : "ram.efi");
  return fetched == nullptr ? 0 : fetched->size;
}

std::map<std::string, PlannedImage> images_of(const playbooks::Plan& plan,
                                              const inventory::Inventory& inventory,
                                              const std::filesystem::path& state) {
  std::map<std::string, PlannedImage> found;
  if (!inventory.boot) return found;
  const auto& boot = *inventory.boot;
  const auto folder = folder_of_images(boot, state);
  for (const auto& node : plan.nodes)
    for (const auto& step : *node.steps) {
      const auto& profile = inventory.profile_of(*node.node);
      const auto name = image_of(step, profile);
      if (name.empty()) continue;
      auto& image = found[name];
      image.without_seed += profile.os.seed ? 0 : 1;
      image.not_grown += profile.os.grow ? 0 : 1;
      if (image.nodes++ == 0) {
        image.bytes = size_of_image(folder, name);
        image.traffic.uplink = boot.uplink;
        image.traffic.rack_uplink = boot.rack_uplink;
      }
      const auto& rack = node.node->rack;
      os::add_machine(image.traffic, rack, image.bytes, !boot.mirror_of(rack).empty());
    }
  return found;
}

std::string line_of(const std::string& name, const PlannedImage& image) {
  if (image.bytes == 0)
    return fmt::format("OS image {} on {} nodes: it is not in the image store (cupel image list)\n",
                       printable(name), image.nodes);
  const auto one = static_cast<double>(image.bytes);
  const auto least = os::least_time_of(image.traffic);
  return fmt::format(
      "OS image {} on {} nodes: {} GB each, {} GB in all; {}\n", printable(name), image.nodes,
      plain(one / kGiga), plain(one * static_cast<double>(image.nodes) / kGiga),
      least.count() == 0
          ? std::string{"the inventory names no uplink"}
          : "the last has it after " + report::span_text(least) + " at the earliest");
}

/// What a step can prove less than else, and what is left to the image.
std::string left_to_image(const std::string& name, const PlannedImage& image) {
  std::string text;
  if (image.without_seed > 0)
    text += fmt::format(
        "OS image {} on {} nodes without a seed: name, networks and the key that logs in are the "
        "image's own. Proven is what was written to the disk and read back, and that a system "
        "other "
        "than the RAM system answers SSH; not that it is this image, nor its host key\n",
        printable(name), image.without_seed);
  if (image.not_grown > 0)
    text +=
        fmt::format("OS image {} on {} nodes is not grown: its root is as large as the image's\n",
                    printable(name), image.not_grown);
  return text;
}

}  // namespace

std::string images_text(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                        const std::filesystem::path& state) {
  std::string text;
  for (const auto& [name, image] : images_of(plan, inventory, state)) {
    text += line_of(name, image);
    text += left_to_image(name, image);
  }
  return text;
}

boost::json::array images_json(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                               const std::filesystem::path& state) {
  boost::json::array all;
  for (const auto& [name, image] : images_of(plan, inventory, state))
    all.push_back({{"image", name},
                   {"nodes", image.nodes},
                   {"bytes", image.bytes},
                   {"without_seed", image.without_seed},
                   {"not_grown", image.not_grown},
                   {"at_least_s", os::least_time_of(image.traffic).count()}});
  return all;
}

std::vector<std::string> rejected_images(const playbooks::Plan& plan,
                                         const inventory::Inventory& inventory,
                                         const std::filesystem::path& state) {
  if (!inventory.boot) return {};
  std::set<Booted> booted;
  for (const auto& node : plan.nodes)
    for (const auto& step : *node.steps)
      if (auto found = booted_by(step, inventory.profile_of(*node.node)); !found.ram.empty())
        booted.insert(std::move(found));
  return rejected(booted, *inventory.boot, state);
}

std::vector<inventory::Problem> rejected_images(const inventory::Inventory& inventory,
                                                const std::filesystem::path& state) {
  std::vector<inventory::Problem> problems;
  if (!inventory.boot) return problems;
  std::set<Booted> named;
  for (const auto& node : inventory.nodes) {
    const auto& os = inventory.profile_of(node).os;
    if (!os.image.empty()) named.insert({os.ram, os.image, os.seed});
  }
  for (auto& why : rejected(named, *inventory.boot, state))
    problems.push_back({inventory.boot->where, std::move(why)});
  return problems;
}

}  // namespace cupel::cli

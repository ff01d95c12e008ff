#include "rehearsal/sim/update_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/digest.h"
#include "base/file.h"
#include "base/signature.h"
#include "rehearsal/bmc/image.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOtherModel = "Toaster3000";
constexpr std::size_t kImageBytes = 16u << 10;

/// A component as profiles and images know it. Each version is later than what the machines run.
struct ComponentRow {
  std::string_view name, version;
  std::string_view ids;  // in the BMC's inventory; empty: by the component's own name
  std::string_view targets{};
  std::string_view previous{};  // what the machines run, where it may be written back
};
constexpr std::array kRows{
    ComponentRow{"bios", "01.02.00", ""},
    ComponentRow{"bmc", "24.09.17", "HostBMC_0, \"Installed-*iDRAC.Embedded*\""},
    ComponentRow{"erot", "00.02.0182.0000_n00", "HGX_FW_ERoT_GPU_SXM_*, HGX_FW_ERoT_BMC_0",
                 "/redfish/v1/UpdateService/FirmwareInventory/HGX_0"},
    ComponentRow{"psu", "99.9", "PSU_*", "", "2.2-2.1-2.4"},
};

const ComponentRow& row_of(const PlannedUpdate& update) {
  return *std::ranges::find(kRows, update.component, &ComponentRow::name);
}

std::vector<Flash> contents_of(const ComponentRow& row, const std::string& version) {
  if (row.name == "bios") return {{"HostBIOS_0", version}};
  if (row.name == "bmc") return {{"HostBMC_0", version}};
  if (row.name == "psu") {
    std::vector<Flash> six;
    for (int supply = 0; supply < 6; ++supply)
      six.push_back({fmt::format("PSU_{}", supply), version});
    return six;
  }
  std::vector<Flash> nine{{"HGX_FW_ERoT_BMC_0", version}};
  for (int gpu = 1; gpu <= 8; ++gpu)
    nine.push_back({fmt::format("HGX_FW_ERoT_GPU_SXM_{}", gpu), version});
  return nine;
}

/// As its vendor made it.
Result<std::string> image_of(const PlannedUpdate& update, std::string_view version,
                             std::size_t number) {
  const bool other = update.image == "other-model" || update.image == "mislabelled";
  std::string bytes;
  TRY(write_image({.contents = contents_of(row_of(update), std::string{version}),
                   .model = std::string{other ? kOtherModel : ""},
                   .size = kImageBytes + number},  // none has another's digest
                  [&](std::string_view piece) { bytes += piece; }));
  return bytes;
}

/// As it lies on the controller's disk.
std::string on_disk(const PlannedUpdate& update, std::string bytes) {
  if (update.image == "corrupted") bytes[bytes.size() / 2] ^= 1;
  if (update.image == "truncated") bytes.resize(bytes.size() / 2);
  return bytes;
}

std::string manifest_entry(const PlannedUpdate& update, const std::string& bytes) {
  const auto& row = row_of(update);
  return fmt::format(
      "  - {{vendor: \"*\", model: \"{}\", component: {}, version: {}, sha256: {}, size: {}, "
      "expires: 2099-01-01}}\n",
      update.image == "other-model" ? kOtherModel : "*", row.name, row.version, sha256_hex(bytes),
      bytes.size());
}

bool has_previous(const PlannedUpdate& update) { return update.recovery == "previous-image"; }

std::string previous_file(const PlannedUpdate& update) {
  return update.profile() + ".previous.bin";
}

std::string previous_entry(const PlannedUpdate& update, const std::string& bytes) {
  const auto& row = row_of(update);
  return fmt::format(
      "  - {{vendor: \"*\", model: \"*\", component: {}, version: {}, sha256: {}, size: {}, "
      "expires: 2099-01-01, file: {}}}\n",
      row.name, row.previous, sha256_hex(bytes), bytes.size(), previous_file(update));
}

/// A controller counts what an update takes in our time.
std::string profile_of(const PlannedUpdate& update, const std::string& bytes, double speed) {
  const auto& row = row_of(update);
  const auto scaled = [speed](double seconds, double least) {
    return static_cast<long>(std::ceil(std::max(seconds / speed, least)));
  };
  const auto list = [](std::string_view key, std::string_view what) {
    return what.empty() ? std::string{} : fmt::format("    {}: [{}]\n", key, what);
  };
  // BMCs refuse an older image without `force`.
  const auto more =
      list("ids", row.ids) + list("targets", row.targets) +
      (has_previous(update) ? "    recovery: [previous-image]\n    force: true\n" : "");
  return fmt::format(
      "profile: {0}\nextends: updates\nfirmware:\n  - component: {1}\n    version: {2}\n{3}"
      "    image: {{file: ../{0}.bin, sha256: {4}}}\n    follow: [{5}]\n    takes: {6}s\n"
      "    settles: {7}s\n",
      update.profile(), row.name, row.version, more, sha256_hex(bytes), update.follow,
      scaled(1500, 30), scaled(900, 25));
}

}  // namespace

Result<void> write_updates(const fs::path& folder, const std::set<PlannedUpdate>& updates,
                           std::string_view patience, double speed) {
  constexpr mode_t kOwnersAlone = 0600;
  TRY(const auto key, make_signing_key());
  TRY(const auto open, public_key_of(key));
  TRY(const auto second_key, make_signing_key());  // of whoever approves the way back
  TRY(const auto second_open, public_key_of(second_key));
  const auto base = fmt::format("profile: updates\nextends: dgx-h100\n{}firmware: []\n", patience);
  TRY(write_file(folder / "profiles" / "updates.yaml", base, kOwnersAlone));
  std::string manifest = "images:\n";
  std::size_t number = 0;
  for (const auto& update : updates) {
    TRY(auto bytes, image_of(update, row_of(update).version, ++number));
    manifest += manifest_entry(update, bytes);
    TRY(write_file(folder / "profiles" / (update.profile() + ".yaml"),
                   profile_of(update, bytes, speed), kOwnersAlone));
    TRY(write_file(folder / (update.profile() + ".bin"), on_disk(update, std::move(bytes)),
                   kOwnersAlone));
  }
  for (const auto& update : updates) {
    if (!has_previous(update)) continue;
    TRY(const auto bytes, image_of(update, row_of(update).previous, ++number));
    manifest += previous_entry(update, bytes);
    TRY(write_file(folder / previous_file(update), bytes, kOwnersAlone));
  }
  TRY(const auto signature, sign(manifest, key));
  TRY(const auto approval, sign(manifest, second_key));
  TRY(write_file(folder / "images.yaml", manifest, kOwnersAlone));
  TRY(write_file(folder / "images.yaml.sig", signature, kOwnersAlone));
  TRY(write_file(folder / "images.yaml.approval", approval, kOwnersAlone));
  return write_file(folder / "site.pub", open + second_open, kOwnersAlone);
}

}  // namespace cupel::rehearsal

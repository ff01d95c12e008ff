#include "inventory/check_files.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/ownership.h"
#include "base/paths.h"
#include "inventory/endpoint.h"
#include "inventory/image_manifest.h"
#include "inventory/model.h"
#include "inventory/rack.h"
#include "inventory/secret_ref.h"
#include "inventory/user_data.h"

namespace cupel::inventory {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<Problem>;

/// Each file once, with the place that named it first.
class NamedFiles {
 public:
  explicit NamedFiles(Result<void> (*check)(const fs::path&)) : check_{check} {}

  void check(const std::string& file, const Place& where) {
    if (file.empty() || !seen_.insert(file).second) return;
    auto checked = check_(file);
    if (!checked) problems_.push_back({where, std::move(checked).error().what});
  }
  Problems problems() && { return std::move(problems_); }

 private:
  Result<void> (*check_)(const fs::path&);
  std::set<std::string, std::less<>> seen_{};
  Problems problems_{};
};

/// Where the file itself is named, or what it is for.
const Place& place_of(const Place& named, const Place& whose) {
  return named.line > 0 ? named : whose;
}

Result<void> check_presence(const fs::path& file) {
  if (const auto why = absence(file)) return Error{Code::kInvalid, *why};
  return ok();
}

/// One that this user may not see is not missing.
Error unseen_secret(const std::string& path, int failure) {
  if (failure == ENOENT || failure == ENOTDIR)
    return Error{Code::kInvalid, "there is no secret file " + path};
  const auto user = name_of_user(::geteuid());
  return Error{Code::kInvalid,
               fmt::format("secret file {} cannot be looked at by {}: {}{}", path, user,
                           std::strerror(failure),
                           failure == EACCES ? ": put it into a folder that " + user + " may enter"
                                             : std::string{})};
}

/// The command by which root lets this user read a secret. In a folder of a service's group that is
/// the group, whoever of its members asks: given to the member's own, the service would lose it.
std::string command_to_share(const fs::path& file) {
  struct stat folder{};
  const auto parent = absolute_path(file).parent_path().string();
  const bool shared = ::stat(parent.c_str(), &folder) == 0 && ::group_member(folder.st_gid) != 0;
  const auto id = shared ? folder.st_gid : ::getegid();
  const auto* group = ::getgrgid(id);
  return fmt::format("chown root:{0} {1} && chmod 640 {1}",
                     group == nullptr ? std::to_string(id) : group->gr_name, file.string());
}

}  // namespace

Result<void> check_secret_file(const fs::path& file) {
  struct stat found{};
  const auto path = file.string();
  if (::stat(path.c_str(), &found) != 0) return unseen_secret(path, errno);
  // Root gives a service's group its secrets to read: root:cupel, mode 0640.
  const bool of_root = found.st_uid == 0;
  if ((found.st_mode & 077) != 0 && !(of_root && (found.st_mode & 037) == 0))
    return Error{Code::kInvalid, fmt::format("secret file {} may be read by others: {}", path,
                                             of_root && ::geteuid() != 0 ? command_to_share(file)
                                                                         : "chmod 600 " + path)};
  TRY(within("secret file", check_ownership(file)));
  if (::access(path.c_str(), R_OK) == 0) return ok();
  return Error{Code::kInvalid, fmt::format("secret file {} cannot be read by {}: {}", path,
                                           name_of_user(::geteuid()), command_to_share(file))};
}

std::vector<Problem> check_inventory_files(const fs::path& file) {
  constexpr std::size_t kMostProfiles = 1'000;
  NamedFiles files{check_ownership};
  files.check(file.string(), {file.string(), 0, 0});
  const auto profiles = absolute_path(file).parent_path() / "profiles";
  std::error_code none;
  std::size_t looked_at = 0;
  fs::directory_iterator entry{profiles, none};
  for (; !none && entry != fs::directory_iterator{} && looked_at < kMostProfiles;
       entry.increment(none), ++looked_at)
    if (entry->path().extension() == ".yaml")
      files.check(entry->path().string(), {entry->path().string(), 0, 0});
  return std::move(files).problems();
}

std::vector<Problem> check_named_files(const Inventory& inventory) {
  NamedFiles files{check_ownership};
  const auto authority = [&](const Trust& trust, const Place& where) {
    if (trust.kind == Trust::Kind::ca) files.check(trust.what, where);
  };
  for (const auto& node : inventory.nodes) {
    files.check(node.ssh.key_file, place_of(node.ssh.key_named, node.where));
    authority(node.bmc.trust, node.where);
  }
  for (const auto& pdu : inventory.pdus) authority(pdu.trust, pdu.where);
  if (const auto& slurm = inventory.slurm; slurm && slurm->rest)
    files.check(slurm->rest->ca, slurm->where);
  if (const auto& slurm = inventory.slurm)
    for (const auto& job : slurm->jobs) {
      files.check(job.script, job.where);
      files.check(job.results, job.where);
    }
  if (const auto& kubernetes = inventory.kubernetes) files.check(kubernetes->ca, kubernetes->where);
  if (const auto& images = inventory.images) {
    files.check(images->manifest, images->where);
    files.check(signature_file_of(images->manifest), images->where);
    files.check(images->key, images->where);
    files.check(images->certificate, images->where);
  }
  if (const auto& boot = inventory.boot) {
    files.check(boot->certificate, boot->where);
    files.check(boot->ca, boot->where);
    files.check(boot->images, boot->where);
  }
  if (const auto& fabric = inventory.fabric) {
    files.check(fabric->file, fabric->where);
    files.check(fabric->forwarding_file, fabric->where);
    if (fabric->ufm) files.check(fabric->ufm->ca, fabric->ufm->where);
  }
  files.check(inventory.floor.file, inventory.floor.where);
  return std::move(files).problems();
}

std::vector<Problem> check_secret_files(const Inventory& inventory) {
  NamedFiles files{check_secret_file};
  const auto secret = [&](const SecretRef& ref, const Place& where) {
    if (ref.kind == SecretRef::Kind::file) files.check(ref.where, place_of(ref.named, where));
  };
  // One that is not there was reported where the inventory was read.
  const auto key = [&](const std::string& file, const Place& where) {
    if (!file.empty() && !absence(file)) files.check(file, where);
  };
  const auto user_data = [&](const UserData& data) {
    for (const auto& [text, ref] : data.secrets) secret(ref, data.where);
  };
  for (const auto& [name, profile] : inventory.profiles)
    for (const auto& layer : profile.os.user_data) user_data(*layer);
  for (const auto& node : inventory.nodes) {
    secret(node.bmc.password, node.where);
    if (node.bmc.factory) secret(node.bmc.factory->password, node.where);
    for (const auto& layer : node.user_data) user_data(*layer);
    key(node.ssh.key_file, place_of(node.ssh.key_named, node.where));
  }
  for (const auto& pdu : inventory.pdus) secret(pdu.password, pdu.where);
  if (const auto& slurm = inventory.slurm; slurm && slurm->rest && slurm->rest->token)
    secret(*slurm->rest->token, slurm->where);
  if (inventory.kubernetes) secret(inventory.kubernetes->token, inventory.kubernetes->where);
  if (inventory.fabric && inventory.fabric->ufm)
    secret(inventory.fabric->ufm->secret, inventory.fabric->ufm->where);
  if (inventory.images) key(inventory.images->certificate_key, inventory.images->where);
  if (inventory.boot) key(inventory.boot->key, inventory.boot->where);
  return std::move(files).problems();
}

std::vector<Problem> check_rack_files(const std::vector<NvlRack>& racks) {
  NamedFiles files{check_ownership}, keys{check_secret_file};
  for (const auto& rack : racks)
    for (const auto* device : devices_of(rack)) {
      if (device->trust.kind == Trust::Kind::ca) files.check(device->trust.what, device->where);
      files.check(device->certificate, device->where);
      keys.check(device->key, device->where);
    }
  auto problems = std::move(files).problems();
  std::ranges::move(std::move(keys).problems(), std::back_inserter(problems));
  return problems;
}

std::vector<Problem> check_image_trust_files(const Inventory& inventory) {
  NamedFiles files{check_presence};
  if (const auto& images = inventory.images) {
    files.check(images->manifest, images->where);
    files.check(images->key, images->where);
  }
  return std::move(files).problems();
}

}  // namespace cupel::inventory

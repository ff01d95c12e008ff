// An operating system on the node's disk, written by the RAM system or by a vendor's installer; or
// the RAM system that stays up. Booted over the network or from a virtual disc, once. The ticket is
// journalled before the machine hears of it, and found again after a crash.
#include <fmt/format.h>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/secret.h"
#include "inventory/user_data.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/images/image.h"
#include "orchestrator/os/boot_order.h"
#include "orchestrator/os/boot_run.h"
#include "orchestrator/os/console_tail.h"
#include "orchestrator/os/first_boot.h"
#include "orchestrator/os/installed.h"
#include "orchestrator/os/seed.h"
#include "orchestrator/ssh/public_key.h"
#include "orchestrator/steps/firmware_end.h"
#include "orchestrator/steps/follower.h"
#include "orchestrator/steps/kernel_watch.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/store/pins.h"
#include "orchestrator/store/step_secrets.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::Outcome;
using engine::StepEnd;
using engine::StepRequest;
using os::BootEnd;
using os::BootHandle;
using std::chrono::seconds;

constexpr seconds kSwitchPause{1};
constexpr seconds kLookPatience{20};  // for a system that may not be there
constexpr seconds kKeysPatience{60};  // from a RAM system's report until it lets the key in

std::string pin_name(const inventory::Node& node) { return "ssh:" + node.name; }
std::string tpm_name(const inventory::Node& node) { return "tpm:" + node.name; }

/// What the step says; nothing where it leaves it to the profile.
std::string word_of_step(const StepRequest& request, const std::string& key) {
  const auto found = request.step.with.find(key);
  return found == request.step.with.end() || found->second == "profile" ? "" : found->second;
}
bool says_yes(const StepRequest& request, const std::string& key) {
  return word_of_step(request, key) == "yes";
}
std::string or_else(std::string first, const std::string& second) {
  return first.empty() ? second : first;
}

/// One step's boot: what it is to come to.
struct OsRequest {
  os::BootRequest boot{};
  std::vector<inventory::BootWay> ways{};
  std::string image{}, sha256{};       // empty: the RAM system stays up
  std::vector<std::string> secrets{};  // in its user data
};

Result<std::vector<inventory::BootWay>> ways_of(const StepEnvironment& environment,
                                                const StepRequest& request) {
  const auto& of_profile = environment.inventory.profile_of(request.node).os.ways;
  const auto text = word_of_step(request, "ways");
  if (text.empty()) return of_profile.empty() ? environment.inventory.boot->ways : of_profile;
  std::vector<inventory::BootWay> ways;
  for (const auto word : split(text, ',')) {
    const auto way = inventory::boot_way(trimmed(word));
    if (!way)
      return Error{Code::kInvalid, "ways: '" + printable(word) +
                                       "' is no way to boot: http, dhcp-http, pxe, media"};
    ways.push_back(*way);
  }
  return ways;
}

/// Known before anything is written: what is booted brings a host key of its own, and one that a
/// person pinned is a person's alone to replace.
Result<void> may_bring_a_key(const store::Store& store, const inventory::Node& node) {
  if (node.ssh.trust.kind == inventory::Trust::Kind::pinned)
    return Error{Code::kInvalid, "the inventory pins the host key of " + node.name +
                                     ", and what is booted brings its own: host_key: first-use"};
  TRY(const bool by_person, store::is_pinned_by_person(store, pin_name(node)));
  if (!by_person) return ok();
  return Error{Code::kInvalid,
               fmt::format("a person pinned the SSH host key of {}, and what is booted brings its "
                           "own: where that is meant, run: cupel exec {} --forget-host-key",
                           node.name, node.name)};
}

/// The image, which must be the one that was pinned.
Result<os::BootImage> pinned_image(const os::BootInterface& door, const OsRequest& requested) {
  if (!inventory::is_sha256(requested.sha256))
    return Error{Code::kInvalid, "image " + requested.image +
                                     " is not pinned: say its sha256 in the "
                                     "profile's os: or in with: of the step"};
  TRY(auto image, door.os_image(requested.image));
  if (image.digest == requested.sha256) return image;
  return Error{Code::kUntrusted,
               fmt::format("image {} has the digest {}, and {} is pinned: nothing was written",
                           requested.image, image.digest, requested.sha256)};
}

/// What a node would find out with its disk overwritten.
Result<void> check_image(const OsRequest& requested) {
  const auto& image = *requested.boot.os;
  const auto& ram = requested.boot.boots;
  if (image.arch != ram.arch)
    return Error{Code::kInvalid, fmt::format("image {} is for {}, and RAM system {} for {}",
                                             requested.image, image.arch, ram.name, ram.arch)};
  auto no_seed = images::why_not_seeded(requested.image, image.no_seed);
  if (requested.boot.seed && !no_seed.empty())
    return Error{Code::kInvalid, std::move(no_seed) + ". Nothing was booted"};
  return ok();
}

Result<OsRequest> os_request_of(const StepEnvironment& environment, const StepRequest& request) {
  const auto& node = request.node;
  const auto& profile = environment.inventory.profile_of(node).os;
  const auto& door = *environment.boot;
  const bool stays = request.step.kind == playbooks::StepKind::boot_ram;
  // What an image without a seed brings is not Cupel's: a pinned key may be its own, and is
  // compared.
  if (stays || profile.seed) {
    TRY(may_bring_a_key(environment.store, node));
  }
  if (node.ssh.key_file.empty())
    return Error{Code::kInvalid, "ssh: key of " + node.name +
                                     " is the agent's: the OS needs a key file, to let it in"};
  OsRequest requested;
  TRY(requested.boot.ca, door.ca);
  TRY(requested.boot.public_key, ssh::public_key_of(node.ssh.key_file));
  TRY(requested.ways, ways_of(environment, request));
  const auto ram = or_else(word_of_step(request, "ram"), profile.ram);
  if (stays) {
    TRY(requested.boot.boots, door.ram_system(ram));
    return requested;
  }
  requested.boot.seed = profile.seed;
  requested.boot.grow = profile.grow;
  requested.image = or_else(word_of_step(request, "image"), profile.image);
  requested.sha256 = or_else(word_of_step(request, "sha256"), profile.sha256);
  TRY(requested.boot.os, pinned_image(door, requested));
  if (os::is_installer(*requested.boot.os)) {
    requested.boot.boots = *requested.boot.os;
  } else {
    TRY(requested.boot.boots, door.ram_system(ram));
  }
  TRY(check_image(requested));
  requested.boot.wipe = says_yes(request, "wipe");
  requested.boot.erase = or_else(word_of_step(request, "erase"), "none");
  requested.boot.network_first = says_yes(request, "network_first");
  requested.boot.network_drop = says_yes(request, "network_drop");
  return requested;
}

/// Those that the merged tree still names, fetched now.
Task<Result<inventory::TextValues>> fetch_secrets(const StepRequest& request,
                                                  const inventory::UserDataLayers& layers,
                                                  const inventory::YamlValue& tree) {
  inventory::TextValues values;
  const auto named = inventory::secrets_of(layers, tree);
  for (const auto& [text, ref] : named) {
    auto secret = co_await inventory::resolve_secret(ref, request.deadline);
    if (!secret) co_return std::move(secret).error().within("user_data");
    if (valid_utf8(*secret) != *secret)
      co_return Error{Code::kInvalid,
                      fmt::format("user_data: the secret {} ({}) is not UTF-8, as cloud-config is: "
                                  "store it as base64, and say encoding: b64 in write_files",
                                  printable(text), to_string(ref.named))};
    values.secrets.insert_or_assign(text, *std::move(secret));
  }
  co_return values;
}

/// The site's user data, with the node's values and with its secrets. A RAM system that stays up
/// gets none.
Task<Result<void>> add_user_data(const StepEnvironment& environment, const StepRequest& request,
                                 OsRequest& requested) {
  const auto layers = inventory::user_data_of(environment.inventory, request.node);
  if (!requested.boot.os || layers.empty()) co_return ok();
  std::vector<inventory::Problem> known;  // since the inventory was read
  const auto tree = inventory::merged(layers, known);
  CO_TRY(auto values, co_await fetch_secrets(request, layers, tree));
  for (const auto& [text, secret] : values.secrets) requested.secrets.push_back(secret);
  values.variables = inventory::variables_of(environment.inventory, request.node);
  requested.boot.user_data = inventory::cloud_config(tree, values);
  co_return ok();
}

/// Of a system with the host key that is pinned for the node. Nothing where none answers.
Task<std::optional<os::Installed>> look(StepEnvironment& environment, const StepRequest& request,
                                        Deadline deadline) {
  if (!environment.store.pinned(pin_name(request.node))) co_return std::nullopt;
  const auto soon = deadline.sooner(kLookPatience);
  auto session = co_await environment.ssh(request.node, soon);
  if (!session) co_return std::nullopt;
  auto seen = co_await os::look_at_installed(**session, request.node.ssh.sudo, soon);
  if (!seen) co_return std::nullopt;
  co_return *std::move(seen);
}

os::BootPatience patience_of(const StepEnvironment& environment, const inventory::Node& node) {
  os::BootPatience patience;
  patience.fetch = environment.inventory.profile_of(node).patience.post;
  patience.home = patience.fetch;
  patience.hello = std::min<std::chrono::milliseconds>(patience.hello, patience.fetch);
  patience.silence = std::min<std::chrono::milliseconds>(patience.silence, patience.fetch);
  patience.again = std::min<std::chrono::milliseconds>(patience.again, patience.fetch);
  return patience;
}

Task<bool> system_answers(StepEnvironment& environment, const StepRequest& request,
                          Deadline deadline) {
  const auto seen = co_await look(environment, request, deadline);
  co_return seen.has_value();
}

/// Of an image without a seed: nothing reported its host key, so that it is pinned on first use. A
/// person's pin, or the inventory's, is compared.
Task<std::optional<os::FoundSystem>> look_for_system(StepEnvironment& environment,
                                                     const StepRequest& request, std::string of_ram,
                                                     Deadline deadline) {
  const auto name = pin_name(request.node);
  auto& store = environment.store;
  const auto before = store.pinned(name);
  const auto session = co_await environment.ssh(request.node, deadline.sooner(kLookPatience));
  const auto& trust = request.node.ssh.trust;
  if (session && trust.kind == inventory::Trust::Kind::pinned)
    co_return os::FoundSystem{.host_key = trust.what};
  const auto now = store.pinned(name);
  if (session && now && now != of_ram) {
    os::FoundSystem found{.host_key = *now};
    if (before == now)
      found.note =
          "it answers with the host key that was pinned before: that of its old system, or one "
          "that the image brings";
    co_return found;
  }
  // The RAM system's, or that of the system that was on the disk.
  const bool other = session || session.error().code == Code::kUntrusted;
  if (other) (void)store::forget_reported(store, name);
  co_return std::nullopt;
}

os::BootInterfaces doors_for(StepEnvironment& environment, const StepRequest& request,
                             bmc::Bmc& bmc, const OsRequest& requested) {
  const auto& node = request.node;
  os::BootInterfaces doors{.bmc = bmc, .server = *environment.boot};
  doors.order = [&](const netboot::Ticket& ticket) {
    return os::boot_order(environment.inventory, node, requested.boot, ticket);
  };
  doors.keep_ticket = [&](const netboot::Ticket& ticket) {
    return store::keep_secret(environment.store, request.run, os::ticket_id(ticket),
                              os::to_text(ticket));
  };
  doors.keep = request.started;
  doors.waiting = request.waiting;
  doors.pace = environment.pace;
  const auto tail = std::make_shared<os::ConsoleTail>(
      console::console_folder(environment.store.folder(), request.run), node.name);
  doors.mark_console = [tail] { tail->mark(); };
  doors.console = [tail] { return tail->since_mark(); };
  doors.old_system_answers = [&](Deadline deadline) {
    return system_answers(environment, request, deadline);
  };
  if (requested.boot.os && !requested.boot.seed)
    doors.look_for_system = [&](std::string of_ram, Deadline deadline) {
      return look_for_system(environment, request, std::move(of_ram), deadline);
    };
  doors.ways = requested.ways;
  doors.digest = requested.sha256;
  doors.installer = os::is_installer(requested.boot.boots);
  doors.bios = requested.boot.os && requested.boot.os->bios;
  doors.patience = patience_of(environment, node);
  // An installer looks for hardware, links and addresses before anything is heard of it.
  if (doors.installer) doors.patience.hello = doors.patience.fetch;
  return doors;
}

/// An advice to log in, with the key that is logged in with.
std::string with_key(const inventory::Node& node, std::string advice) {
  constexpr std::string_view kSsh = "ssh ";
  const auto place = advice.find("ssh root@");
  const auto& key = node.ssh.key_file;  // empty: the agent's
  if (place != advice.npos && !key.empty()) advice.insert(place + kSsh.size(), "-i " + key + " ");
  return advice;
}

StepEnd failed_end(const StepRequest& request, const BootEnd& ended) {
  StepEnd end;
  end.outcome = ended.how == BootEnd::How::needs_person ? Outcome::needs_operator : Outcome::reject;
  end.detail = ended.detail;
  for (const auto& note : ended.notes) end.detail += "; " + note;
  std::vector<record::Needed> needs;
  for (const auto& advice : ended.advice)
    needs.push_back(
        {.action = with_key(request.node, named_for(request.node, advice)), .goes_on = false});
  if (!needs.empty()) ask_for(end, std::move(needs));
  return end;
}

boost::json::object found_of(const BootEnd& ended, const OsRequest& requested) {
  boost::json::object os{{"way", inventory::to_string(ended.way)}};
  if (!requested.image.empty()) {
    os["image"] = requested.image;
    os["sha256"] = requested.sha256;
    os["disk"] = ended.disk;
  }
  if (!ended.tpm.empty()) os["tpm_ek"] = ended.tpm;
  if (!ended.notes.empty()) os["notes"] = boost::json::value_from(ended.notes);
  return {{"os", std::move(os)}};
}

std::string words_for(const BootEnd& ended, const OsRequest& requested) {
  std::string text = requested.image.empty()
                         ? fmt::format("RAM system {} is up", requested.boot.boots.name)
                         : fmt::format("{} is on disk {}, and up", requested.image, ended.disk);
  text += fmt::format(", booted by {}", inventory::to_string(ended.way));
  for (const auto& note : ended.notes) text += "; " + note;
  return text;
}

/// A TPM's endorsement key is its own for life: another one is another mainboard, or another
/// machine. One that reports none may have it turned off: that is no mismatch.
Result<void> compare_tpm(store::Store& store, const inventory::Node& node, BootEnd& ended) {
  if (ended.tpm.empty()) return ok();
  const auto before = store.pinned(tpm_name(node));
  if (before == ended.tpm) return ok();
  if (before)
    ended.notes.push_back(fmt::format(
        "identity mismatch: its TPM's endorsement certificate has the SHA-256 {}, and had {} at an "
        "earlier boot. Its mainboard or TPM was replaced, or another machine is in this slot",
        ended.tpm, *before));
  return store::pin_reported(store, tpm_name(node), ended.tpm);
}

/// A RAM system reports before it has the keys that let the controller in: they come with the
/// answer. Errors: as those of connected().
Task<Result<std::unique_ptr<ssh::Session>>> let_in(StepEnvironment& environment,
                                                   const StepRequest& request,
                                                   const OsRequest& requested, Deadline until) {
  const auto has_keys = until.sooner(kKeysPatience);
  for (;;) {
    auto session = co_await connected(environment, request, until);
    const bool early =
        !session && session.error().code == Code::kRefused && requested.image.empty();
    if (!early || has_keys.left() <= kSwitchPause) co_return session;
    CO_TRY(co_await pause_for(kSwitchPause));
  }
}

Result<BootHandle> handle_of(const StepEnvironment& environment, const StepRequest& request) {
  return os::boot_handle_of(*request.handle, [&](const std::string& id) {
    return store::secret(environment.store, request.run, id);
  });
}

/// One look at what is up; where the small RAM system goes on in a large one, at that one: it has
/// the same address and host key.
Task<Result<os::Installed>> look_when_up(StepEnvironment& environment, const StepRequest& request,
                                         const OsRequest& requested, Deadline until) {
  const bool grows =
      requested.image.empty() && requested.boot.boots.files.contains(std::string{os::kLargeRoot});
  for (;;) {
    CO_TRY(const auto session, co_await let_in(environment, request, requested, until));
    auto seen = co_await os::look_at_installed(*session, request.node.ssh.sudo, until);
    if (!grows || (seen && seen->image == os::kLargeRoot)) co_return seen;
    // The connection breaks when the small one ends.
    if (!seen && !is_transient(seen.error().code)) co_return seen;
    if (until.left() <= kSwitchPause)
      co_return Error{Code::kTimeout,
                      "its RAM system is up, and has not gone on in root.squashfs: look at its "
                      "console: cupel bmc " +
                          request.node.name + " console"};
    request.waiting("RAM system: fetches and starts root.squashfs");
    CO_TRY(co_await pause_for(kSwitchPause));
  }
}

/// However often its scripts break the connection, or end the wait for them.
Task<Result<os::FirstBoot>> first_boot(StepEnvironment& environment, const StepRequest& request,
                                       const OsRequest& requested, Deadline until) {
  for (;;) {
    request.waiting("first boot: packages and scripts of user_data");
    CO_TRY(const auto session, co_await let_in(environment, request, requested, until));
    auto seen = co_await os::wait_for_first_boot(*session, request.node.ssh.sudo, until);
    const bool again = seen ? seen->how == os::FirstBoot::How::pending
                            : is_transient(seen.error().code) ||
                                  seen.error().code == Code::kMalformed;  // cut without a status
    if (!again || until.left() <= kSwitchPause) co_return seen;
    CO_TRY(co_await pause_for(kSwitchPause));
  }
}

/// Nothing where the site's user data did what it is to do, or nothing will say.
std::optional<StepEnd> bad_first_boot(const StepRequest& request, const os::FirstBoot& seen,
                                      const OsRequest& requested, const BootEnd& ended) {
  using How = os::FirstBoot::How;
  BootEnd failed{.how = BootEnd::How::failed, .notes = ended.notes};
  if (seen.how == How::pending) {
    failed.detail = "its first boot has not ended: " + seen.failure;
    failed.advice = {"look at what it does: cupel exec NODE -- cloud-init status --long",
                     "once it has ended, ask for its outcome: cupel run os --nodes NODE"};
    return failed_end(request, failed);
  }
  if (seen.how != How::failed) return std::nullopt;
  failed.detail = "its first boot failed: " + seen.text(requested.secrets);
  failed.advice = {
      "look at what it printed: cupel exec NODE -- tail -n 40 /var/log/cloud-init-output.log",
      "correct user_data or what its scripts need, and write it again: "
      "cupel run os --nodes NODE --set wipe=yes"};
  return failed_end(request, failed);
}

/// The requested image. An earlier run may have ended before its first boot did.
Task<Result<StepEnd>> runs_already(StepEnvironment& environment, const StepRequest& request,
                                   const std::string& image) {
  if (!inventory::user_data_of(environment.inventory, request.node).empty()) {
    const OsRequest requested{.image = image};
    const auto until = with_last_word(request.deadline);
    auto seen = co_await first_boot(environment, request, requested, until);
    if (!seen) co_return ended_by_ssh(std::move(seen).error());
    // The secrets that it had may be others than today's: what it printed is not shown.
    if (seen->how == os::FirstBoot::How::failed)
      *seen = {.how = os::FirstBoot::How::failed, .failure = "cloud-init reports errors"};
    auto bad = bad_first_boot(request, *seen, requested, {});
    if (bad) co_return *std::move(bad);
  }
  co_return done(image + " runs already");
}

void note_unseeded(BootEnd& ended, const std::string& calls_itself, const std::string& name) {
  ended.notes.emplace_back(
      "no seed was written (os: seed: no): nothing proves that the image is what answers SSH");
  if (calls_itself != name)
    ended.notes.push_back(fmt::format("it calls itself '{}', and nothing gave it the name '{}'",
                                      printable(calls_itself), name));
}

/// The system that has reported is the one that answers, and it is the requested one.
Task<Result<StepEnd>> look_at_system(StepEnvironment& environment, const StepRequest& request,
                                     const OsRequest& requested, BootEnd ended) {
  const bool reported = !requested.boot.os || requested.boot.seed;
  if (reported) {
    auto pinned = store::pin_reported(environment.store, pin_name(request.node), ended.host_key);
    if (!pinned) co_return ended_by(std::move(pinned).error());
  }
  request.waiting("SSH");
  const auto until = with_last_word(request.deadline);
  auto seen = co_await look_when_up(environment, request, requested, until);
  if (!seen) co_return ended_by_ssh(std::move(seen).error());
  BootEnd wrong{.how = BootEnd::How::needs_person};
  const auto& name = os::installed_name(request.node);
  // A system without a seed does not say what it was installed from. One that does has one.
  const bool says = reported || !seen->sha256.empty();
  if (!requested.image.empty() && says && seen->sha256 != requested.sha256) {
    wrong.detail = fmt::format("what is up was installed from '{}', and not from {}", seen->image,
                               requested.image);
    wrong.advice = {"look at its boot order: cupel bmc NODE boot"};
    co_return failed_end(request, wrong);
  }
  if (!reported) note_unseeded(ended, seen->host_name, name);
  if (reported && seen->host_name != name) {
    wrong.detail =
        fmt::format("it calls itself '{}', and was to call itself '{}'", seen->host_name, name);
    wrong.advice = {"look at the image: cloud-init takes the name from its seed"};
    co_return failed_end(request, wrong);
  }
  if (!requested.boot.user_data.empty()) {
    auto booted = co_await first_boot(environment, request, requested, until);
    if (!booted) co_return ended_by_ssh(std::move(booted).error());
    if (booted->how == os::FirstBoot::How::unknown)
      ended.notes.push_back(booted->failure +
                            ": nothing says whether user_data did what it is to do");
    auto bad = bad_first_boot(request, *booted, requested, ended);
    if (bad) co_return *std::move(bad);
  }
  CO_TRY(compare_tpm(environment.store, request.node, ended));
  co_return done(words_for(ended, requested), found_of(ended, requested));
}

Task<Result<StepEnd>> boot_with(StepEnvironment& environment, const StepRequest& request,
                                bmc::Bmc& bmc, const OsRequest& requested) {
  os::BootRun run{doors_for(environment, request, bmc, requested)};
  const auto until = with_last_word(request.deadline);
  Result<BootEnd> ended = Error{Code::kMalformed, ""};
  if (request.handle) {
    auto handle = handle_of(environment, request);
    if (!handle) co_return ended_by(std::move(handle).error());
    ended = co_await run.resume(*std::move(handle), until);
  } else {
    ended = co_await run.run(until);
  }
  if (!ended) co_return ended_by_bmc(std::move(ended).error());
  if (ended->how != BootEnd::How::up) co_return failed_end(request, *ended);
  if (ended->host_key.empty())
    co_return ended_by({Code::kMalformed, "what booted reported no host key that can be used"});
  auto end = co_await look_at_system(environment, request, requested, *ended);
  // What has failed is cleaned up by abort().
  if (end && end->outcome == Outcome::done) {
    run.end_ticket();
    KernelWatch::begin_with_boot(*end);
  }
  co_return end;
}

Task<Result<StepEnd>> boot_once_more(StepEnvironment& environment, const StepRequest& request) {
  auto requested = os_request_of(environment, request);
  if (!requested) co_return ended_by(std::move(requested).error());
  auto data = co_await add_user_data(environment, request, *requested);
  if (!data) co_return ended_by(std::move(data).error());
  const auto bmc = environment.bmc(request.node);
  auto end = co_await boot_with(environment, request, *bmc, *requested);
  co_await bmc->log_out();
  co_return end;
}

Task<Result<StepEnd>> perform_os(StepEnvironment& environment, const StepRequest& request) {
  const auto& profile = environment.inventory.profile_of(request.node).os;
  const bool ram = request.step.kind == playbooks::StepKind::boot_ram;
  const auto sha256 = or_else(word_of_step(request, "sha256"), profile.sha256);
  if (!ram && or_else(word_of_step(request, "image"), profile.image).empty())
    co_return done("nothing to do: neither profile nor playbook name an image");
  if (!environment.boot)
    co_return ended_by(
        {Code::kInvalid, "the inventory has no boot: nothing says where machines fetch their OS"});
  if (!ram && !says_yes(request, "reinstall")) {
    const auto seen = co_await look(environment, request, request.deadline);
    if (seen && !seen->sha256.empty() && seen->sha256 == sha256)
      co_return co_await runs_already(environment, request, seen->image);
  }
  auto free = co_await check_free(environment, request);
  if (!free) co_return ended_by(std::move(free).error());
  co_return co_await boot_once_more(environment, request);
}

Task<Result<void>> let_go(StepEnvironment& environment, const StepRequest& request) {
  auto handle = handle_of(environment, request);
  if (!handle || !environment.boot) co_return ok();
  const auto bmc = environment.bmc(request.node);
  const OsRequest nothing;
  os::BootRun run{doors_for(environment, request, *bmc, nothing)};
  auto cleaned = co_await run.clean_up(*std::move(handle), request.deadline);
  co_await bmc->log_out();
  co_return cleaned;
}

}  // namespace

StepType os() {
  return {.kind = playbooks::StepKind::os,
          .perform = perform_os,
          .reattach = boot_once_more,
          .abort = let_go};
}

StepType boot_ram() {
  return {.kind = playbooks::StepKind::boot_ram,
          .perform = perform_os,
          .reattach = boot_once_more,
          .abort = let_go};
}

}  // namespace cupel::steps::kinds

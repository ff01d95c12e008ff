#include "orchestrator/controller/boot_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/ownership.h"
#include "base/self_signed.h"
#include "inventory/model.h"
#include "orchestrator/controller/certificate_file.h"
#include "orchestrator/store/modes.h"

namespace cupel::controller {
namespace {

using images::ImageKind;

constexpr std::size_t kLargestPem = 256u << 10;
constexpr std::chrono::seconds kLookAgain{5};  // for a renewed certificate
constexpr std::string_view kIso = "ram.iso", kImage = "image";

std::vector<netboot::ExpectedMachine> machines_of(const inventory::Inventory& inventory) {
  std::vector<netboot::ExpectedMachine> machines;
  for (const auto& node : inventory.nodes)
    machines.push_back({.node = node.name,
                        .serial = node.serial,
                        .uuid = {},
                        .macs = node.boot.macs,
                        .arch = {},
                        .rack = node.rack});
  return machines;
}

/// Errors: kNotFound; kInvalid (no certificate, or the only one has expired).
Result<std::string> ca_in(const std::string& file, std::chrono::sys_seconds now) {
  constexpr std::string_view kBegin = "-----BEGIN";
  TRY(auto pem, read_trusted_file(file, kLargestPem));
  TRY(const auto valid, within(file, certificate_validity(pem)));
  const bool is_bundle = pem.find(kBegin) != pem.rfind(kBegin);  // another one may hold
  if (is_bundle || valid.end > now) return pem;
  return Error{Code::kInvalid,
               fmt::format("{}: expired on {:%Y-%m-%d}: the installed system rejects every "
                           "certificate that it signed. Name the CA that follows it",
                           file, valid.end)};
}

}  // namespace

BootFiles::BootFiles(asio::any_io_executor executor, const inventory::Inventory& inventory,
                     const std::filesystem::path& state, BootServers& servers,
                     std::function<std::chrono::sys_seconds()> now)
    : executor_{std::move(executor)},
      inventory_{inventory},
      images_{state / "images"},
      servers_{servers},
      now_{std::move(now)} {
  if (inventory_.boot && !inventory_.boot->images.empty()) images_ = inventory_.boot->images;
}

Result<os::BootImage> BootFiles::image(const std::string& name,
                                       std::initializer_list<images::ImageKind> kinds) const {
  TRY(const auto store, images::ImageStore::open(images_));
  TRY(const auto found, store.find(name));
  const auto& manifest = found.manifest;
  if (std::ranges::find(kinds, manifest.kind) == kinds.end())
    return Error{Code::kInvalid, "image " + name + " is a " +
                                     std::string{images::to_string(manifest.kind)} + " image"};
  // Known before a machine is booted: it would stay up without an order.
  const auto& boot = *inventory_.boot;
  auto why = images::why_not_obeyed(manifest, {boot.host, !boot.certificate.empty()});
  if (!why.empty()) return Error{Code::kInvalid, std::move(why)};
  os::BootImage image{.name = name, .arch = manifest.arch, .digest = found.digest()};
  image.command_line = manifest.command_line;
  image.content_size = manifest.content_size;
  image.compression = manifest.compression;
  image.efi = manifest.efi;
  image.bios = manifest.bios;
  image.no_seed = manifest.no_seed;
  image.mirror = manifest.mirror;
  for (const auto& file : manifest.files) {
    TRY(const auto path, found.path_of(file.name));
    const auto url = file.name == images::kDiskFile ? std::string{kImage} : file.name;
    image.files[url] = {path.string(), file.sha256, file.size};
  }
  return image;
}

Result<netboot::BootService*> BootFiles::service() {
  if (service_) return service_.get();
  const auto& boot = *inventory_.boot;
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(boot.host, bad);
  if (bad)
    return Error{Code::kInvalid, "boot: serve: " + boot.host + " is no address of this machine"};
  netboot::BootServerOptions options;
  options.endpoint = {address, boot.port};
  if (!boot.certificate.empty()) {
    TRY(options.certificate,
        within("boot: tls: certificate", valid_certificate(boot.certificate, now_())));
    TRY(options.key, certificate_key(boot.key));
    options.certificate_file = boot.certificate;
  }
  options.folder = images_.string();
  options.machines = machines_of(inventory_);
  options.uplink = static_cast<std::uint64_t>(boot.uplink);
  options.per_rack = static_cast<std::uint64_t>(boot.rack_uplink);
  endpoint_ = options.endpoint;
  auto certificate = options.certificate;
  TRY(service_, servers_.at(executor_, std::move(options)));
  certificate_ = std::move(certificate);
  return service_.get();
}

/// Errors: kNotFound; kInvalid (what the file has is not valid now, or its key is another one's).
Result<void> BootFiles::take_new_certificate() {
  const auto& boot = *inventory_.boot;
  TRY(auto pem, valid_certificate(boot.certificate, now_()));
  if (pem == certificate_) return ok();
  TRY(const auto key, certificate_key(boot.key));
  TRY(servers_.renew_certificate(endpoint_, pem, key));
  certificate_ = std::move(pem);
  log::info({}, "boot-certificate-renewed", boot.certificate);
  return ok();
}

/// What is shown may hold while its file is being replaced: then machines accept it still.
Result<void> BootFiles::check_certificate() {
  if (certificate_.empty()) return ok();
  const auto taken = take_new_certificate();
  if (taken) {
    not_taken_.clear();
    return ok();
  }
  const auto shown = certificate_validity(certificate_);
  if (!shown || shown->end <= now_()) return within("boot: tls: certificate", taken);
  if (not_taken_ != taken.error().what) {
    not_taken_ = taken.error().what;
    log::warning({}, "boot-certificate-not-renewed", not_taken_);
  }
  return ok();
}

void BootFiles::look_for_new_certificate() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLookAgain;
  (void)check_certificate();  // who waits is answered by what comes of the boot
}

std::filesystem::path BootFiles::disc_of(const std::string& token) const {
  return images_ / ".discs" / (token + ".iso");
}

Result<void> BootFiles::make_disc(const netboot::Ticket& ticket, netboot::BootOrder& order) const {
  const auto iso = order.files.find(std::string{kIso});
  if (iso == order.files.end()) return ok();
  const std::filesystem::path plain{iso->second};
  TRY(const auto store, images::ImageStore::open(images_));
  TRY(const auto found, store.find(plain.parent_path().filename().string()));
  const auto& slot = found.manifest.iso_ticket;
  auto text = json::serialize(json::object{{"boot", ticket.base_url}});
  if (!slot || text.size() > slot->size)
    return Error{Code::kInvalid, plain.string() + ": has no place for " + ticket.base_url +
                                     ": make the image again: cupel image build"};
  text.resize(slot->size, ' ');
  const auto disc = disc_of(ticket.token);
  std::error_code failed;
  // Its ticket is a secret, whoever may read the images.
  store::make_private_folder(disc.parent_path());
  std::filesystem::copy_file(plain, disc, std::filesystem::copy_options::overwrite_existing,
                             failed);
  std::fstream stream{disc, std::ios::binary | std::ios::in | std::ios::out};
  stream.seekp(static_cast<std::streamoff>(slot->offset));
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (failed || !stream)
    return Error{Code::kStorage, "a disc could not be written: " + disc.string()};
  iso->second = disc.string();
  return ok();
}

std::shared_ptr<os::BootInterface> BootFiles::door() {
  if (!inventory_.boot) return nullptr;
  auto door = std::make_shared<os::BootInterface>();
  door->ram_system = [this](std::string name) { return image(name, {ImageKind::ram}); };
  door->os_image = [this](std::string name) {
    return image(name, {ImageKind::disk, ImageKind::installer});
  };
  door->draw = [this]() -> Result<netboot::Ticket> {
    TRY(auto* const server, service());
    TRY(check_certificate());
    return server->draw();
  };
  door->check_certificate = [this] { return check_certificate(); };
  door->open = [this](const netboot::Ticket& ticket, netboot::BootOrder order,
                      netboot::BootStage reached) -> Result<void> {
    TRY(auto* const server, service());
    TRY(make_disc(ticket, order));
    return server->open(ticket, std::move(order), reached);
  };
  door->revoke = [this](const std::string& token) {
    if (service_) service_->revoke(token);
    std::error_code absent;
    std::filesystem::remove(disc_of(token), absent);
  };
  door->next = [this](std::string token, Deadline until) {
    return [](BootFiles& files, std::string of, Deadline by) -> Task<Result<netboot::BootEvent>> {
      CO_TRY(auto* const server, files.service());
      files.look_for_new_certificate();
      co_return co_await server->next(std::move(of), by);
    }(*this, std::move(token), until);
  };
  if (!inventory_.boot->ca.empty())
    door->ca = within("boot: tls: ca", ca_in(inventory_.boot->ca, now_()));
  return door;
}

}  // namespace cupel::controller

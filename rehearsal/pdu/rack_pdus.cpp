#include "rehearsal/pdu/rack_pdus.h"

#include <fmt/format.h>

#include "inventory/model.h"
#include "rehearsal/rack_of_site.h"

namespace cupel::rehearsal {

struct RackPdus::Unit {
  std::string name, user, address;
  std::unique_ptr<PduService> service{};
  std::unique_ptr<HttpsServer> https{};  // goes before what it serves
};

RackPdus::RackPdus(asio::any_io_executor executor, const Clock& clock, RackSite& site,
                   const inventory::Inventory& of)
    : executor_{executor}, clock_{clock}, site_{site} {
  for (const auto& pdu : of.pdus)
    units_.push_back(std::make_shared<Unit>(pdu.name, pdu.user, pdu_address(units_.size())));
}

Result<void> RackPdus::listen(const std::filesystem::path& folder, const std::string& password) {
  for (const auto& unit : units_) {
    TRY(within(unit->name, listen(*unit, folder, password)));
  }
  return ok();
}

Result<void> RackPdus::listen(Unit& unit, const std::filesystem::path& folder,
                              const std::string& password) {
  auto file = unit.name;
  std::ranges::replace(file, '/', '-');
  TRY(auto certificate,
      load_or_make_certificate(folder / (file + ".pem"), file + "-pdu", unit.address));
  unit.service = std::make_unique<PduService>(executor_, clock_, site_, unit.name,
                                              LoginWords{unit.user, password});
  unit.https = std::make_unique<HttpsServer>(
      executor_, *unit.service, file + "-pdu", std::move(certificate),
      asio::ip::tcp::endpoint{asio::ip::make_address_v4(unit.address), 0});
  return unit.https->listen();
}

std::vector<PduAccess> RackPdus::access() const {
  std::vector<PduAccess> all;
  for (const auto& unit : units_)
    if (unit->https)
      all.push_back({unit->name, fmt::format("{}:{}", unit->address, unit->https->port()),
                     unit->https->certificate().fingerprint});
  return all;
}

void RackPdus::stop() {
  for (const auto& unit : units_) {
    if (unit->https) unit->https->stop();
    if (unit->service) unit->service->stop();
  }
}

}  // namespace cupel::rehearsal

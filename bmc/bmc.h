#pragma once
// One BMC, whatever it speaks: facets with the verbs that it can be asked. Derived classes assign
// the verbs that they have (bmc/redfish/redfish.cpp, bmc/ipmi/ipmi.cpp).
#include "bmc/facets.h"

namespace cupel::bmc {

class Bmc {
 public:
  Bmc();
  Bmc(const Bmc&) = delete;
  Bmc& operator=(const Bmc&) = delete;
  virtual ~Bmc();

  facet::Power power;
  facet::Boot boot;
  facet::Facts facts;
  facet::Update update;
  facet::Sensors sensors;
  facet::Locator locator;
  facet::Log log;
  facet::Diagnostics diagnostics;
  facet::Media media;
  facet::Accounts accounts;
  facet::ManagementController manager;
  facet::Bios bios;
  facet::Settings settings;
  facet::Console console;

  /// Ends the session, if there is one. Call it on every path; idempotent; works when cancelled.
  virtual Task<void> log_out() = 0;
};

}  // namespace cupel::bmc

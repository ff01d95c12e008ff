#pragma once
// A rack's PDU that speaks Redfish, behind the interface in pdu.h.
// Source: DSP0268, PowerEquipment, PowerDistribution, Outlet, OutletGroup.
#include <memory>

#include "bmc/pdu.h"
#include "bmc/redfish/transport.h"
#include "bmc/secret_source.h"
#include "inventory/fwd.h"

namespace cupel::bmc::redfish {

/// Nothing is sent before the first verb. `transport` and `known` must outlive what is returned;
/// call log_out() before it goes. Outlets are those of all rack and floor PDUs, transfer switches,
/// power shelves and switchgear of the service. An outlet's name is its Id, else its UserLabel or
/// Name; a group's too. Where several are called so, it is as much of its URI's end as tells it
/// from the others: "2/Outlets/A1". Errors of outlets(): kConflict where a name is that of several.
/// Errors of every verb: as Client::get.
std::unique_ptr<Pdu> open_pdu(Transport& transport, const inventory::Pdu& pdu,
                              SecretSource password, inventory::KnownKeys& known);

}  // namespace cupel::bmc::redfish

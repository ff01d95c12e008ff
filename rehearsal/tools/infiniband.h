#pragma once
// What a node's HCAs say of their ports: for /sys and for the tools of rdma-core and
// infiniband-diags.
#include <string>

#include "rehearsal/hardware.h"
#include "rehearsal/physics/fabric.h"

namespace cupel::rehearsal {

class Host;

/// Port 1 of that HCA now; one that is down where the fabric does not know it.
PortReading read_port(const Host& host, const std::string& adapter);

std::string state_text(const PortReading& port);     // "4: ACTIVE", as sysfs has it
std::string physical_text(const PortReading& port);  // "5: LinkUp"
std::string rate_text(const PortReading& port);      // "400 Gb/sec (4X NDR)"
/// "ib0" for mlx5_0, and an Ethernet adapter's own name.
std::string net_name(const Adapter& adapter);

}  // namespace cupel::rehearsal

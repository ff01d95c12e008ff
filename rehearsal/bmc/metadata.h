#pragma once
// The OData documents beside the resources: $metadata, the service document, and what an answer's
// headers say of a resource. Source: DSP0266 1.15, "OData $metadata", "OData service document",
// "Response headers".
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"

namespace cupel::rehearsal {

/// The CSDL document that names every schema whose types stand in the tree, in XML.
HttpResponse metadata_document(const ResourceTree& tree);
/// /redfish/v1/odata: what the root leads to, as OData has it.
HttpResponse service_document(const ResourceTree& tree);

}  // namespace cupel::rehearsal

#include "orchestrator/ssh/detached.h"

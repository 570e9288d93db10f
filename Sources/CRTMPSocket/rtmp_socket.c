#include "CRTMPSocket.h"

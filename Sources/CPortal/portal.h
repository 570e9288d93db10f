#ifndef UPCAST_PORTAL_PORTAL_H
#define UPCAST_PORTAL_PORTAL_H

#include "CPortal.h"

#include <CBus.h>

struct upcast_portal {
    const upcast_bus_library *l;
    sd_bus *bus;
    upcast_portal_state state;
    /// The open request, and the question about the session.
    sd_bus_slot *asking, *looking;
    /// The portal's unique name on the bus, which it gets when it starts. Empty until it has answered.
    char owner[256];
    /// The path at which the answer is expected, and the path that the portal names instead, if it does.
    char request[256], named_request[256];
    char session[256];
    uint32_t count;
};

/// answers.c: stores the contents of messages in the state.
int upcast_portal_take_facts(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_request(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_remote_answer(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_presence(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_response(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_closed(sd_bus_message *message, void *data, sd_bus_error *error);
int upcast_portal_take_owner(sd_bus_message *message, void *data, sd_bus_error *error);

/// Notes that the request has failed on this side.
void upcast_portal_fail(upcast_portal *p, const char *name, const char *text);

#endif

from workers.stores.queries import read_queries
def panel_queries():
    return [name for name in read_queries() if name!='citation_audit']
